import type { InspectRecord } from '@allium/server/inspect'
import { readSse } from '../sse.ts'

export interface FeedOptions {
  /** Receives records in order, at most for a few milliseconds at a time. */
  onRecord(record: InspectRecord): void
  /** The feed comes from a new process: the turns of the previous one get no more records. */
  onRestart(): void
  /** Called after each slice of records. */
  onSlice(): void
  /** @param fault why the server rejected the request */
  onConnection(isOpen: boolean, fault?: string): void
  /** Returns headers with the principal. */
  headers(): Record<string, string>
}

/** Marks a new process in the queue. */
const restart = '[ ]'

function epochOf(id: string): string {
  return id.slice(0, id.indexOf('.'))
}

/** Returns the message of an error that the agent's server reports, such as a principal that the agent rejects. */
async function messageOf(response: Response): Promise<string | undefined> {
  const { message } = (await response.json().catch(() => ({}))) as { message?: string }
  return response.status === 503 ? undefined : message
}

/** Milliseconds that the page works on records before it handles input again. */
const slice = 8
const retryDelay = 500
/** Most events that wait for the page. */
const maxQueue = 20
const nextTask = () => new Promise((resolve) => setTimeout(resolve))

/** Follows the feed of records, and connects again when the agent's process was replaced. */
export function followFeed({ onRecord, onRestart, onSlice, onConnection, headers }: FeedOptions): void {
  const queue: string[] = []
  let ready: InspectRecord[] = []
  let next = 0
  let isScheduled = false
  let lastId = ''

  void connect()

  async function connect(): Promise<void> {
    let fault: string | undefined
    for (;;) {
      try {
        fault = undefined
        const response = await fetch(`/api/inspect/feed?after=${encodeURIComponent(lastId)}`, { headers: headers() })
        if (!response.ok) fault = await messageOf(response)
        if (response.ok && response.body !== null) {
          onConnection(true)
          for await (const { id, data } of readSse(response.body)) {
            if (id !== undefined && lastId !== '' && epochOf(id) !== epochOf(lastId)) queue.push(restart)
            if (id !== undefined) lastId = id
            queue.push(data)
            schedule()
            // Reading on would be one long task if the network is faster than the page.
            while (queue.length > maxQueue) await nextTask()
          }
        }
      } catch {
        // The connection was lost.
      }
      onConnection(false, fault)
      await new Promise((resolve) => setTimeout(resolve, retryDelay))
    }
  }

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setTimeout(work)
  }

  function work(): void {
    isScheduled = false
    const end = performance.now() + slice
    while (performance.now() < end) {
      const record = ready[next]
      if (record !== undefined) {
        next++
        onRecord(record)
        continue
      }
      const data = queue.shift()
      if (data === undefined) break
      if (data === restart) onRestart()
      ready = JSON.parse(data) as InspectRecord[]
      next = 0
    }
    onSlice()
    if (queue.length > 0 || next < ready.length) schedule()
  }
}
