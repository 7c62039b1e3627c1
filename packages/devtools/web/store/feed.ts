import type { InspectRecord } from '@allium/server/inspect'
import { readSse } from '../sse.ts'

export interface FeedOptions {
  /** Receives records in order, at most for a few milliseconds at a time. */
  onRecord(record: InspectRecord): void
  /** The feed comes from a new process: the turns of the previous one get no more records. */
  onRestart(): void
  /** Called after each slice of records. */
  onSlice(): void
  onConnection(isOpen: boolean): void
}

/** Marks a new process in the queue. */
const restart = '[ ]'

function epochOf(id: string): string {
  return id.slice(0, id.indexOf('.'))
}

/** Milliseconds that the page works on records before it handles input again. */
const slice = 8
const retryDelay = 500
/** Most events that wait for the page. */
const maxQueue = 20
const nextTask = () => new Promise((resolve) => setTimeout(resolve))

/** Follows the feed of records, and connects again when the agent's process was replaced. */
export function followFeed({ onRecord, onRestart, onSlice, onConnection }: FeedOptions): void {
  const queue: string[] = []
  let ready: InspectRecord[] = []
  let next = 0
  let isScheduled = false
  let lastId = ''

  void connect()

  async function connect(): Promise<void> {
    for (;;) {
      try {
        const response = await fetch(`/api/inspect/feed?after=${encodeURIComponent(lastId)}`)
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
      onConnection(false)
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
