import type { Clock } from '@allium/core'

/** One server-sent event. */
export interface Frame {
  /** `id`, `event` and `data` have one line each. */
  id?: string
  event?: string
  data: string
}

export interface SseOptions {
  readonly clock: Clock
  /** Milliseconds between heartbeats. */
  readonly heartbeat: number
  readonly headers?: Readonly<Record<string, string>>
  /** Aborts when the client disconnects, also before the first byte. */
  readonly signal?: AbortSignal | undefined
  /** Called when the reader is gone or has received everything. */
  onClose(): void
}

/** Writes to one reader. */
export interface SseWriter {
  /** Buffers frames until `flush()`. */
  write(frames: Iterable<Frame>): void
  /** The buffer is large enough to be sent. */
  readonly isFull: boolean
  /** Sends the buffer as one chunk, and waits while the reader has no room. */
  flush(): Promise<void> | undefined
  readonly closed: boolean
}

/** Buffered characters after which the buffer is sent. */
const flushThreshold = 16_384
/** Heartbeats after which a reader that reads nothing is dropped. It can come back with the id of its last event. */
const maxStalledHeartbeats = 8

/**
 * Returns a stream of server-sent events. `produce` writes them, and the stream ends when it resolves. Waits while the reader has no
 * room, and sends heartbeats while there are no events.
 */
export function sse(
  produce: (out: SseWriter) => Promise<void>,
  { clock, heartbeat, headers, signal, onClose }: SseOptions,
): Response {
  const encoder = new TextEncoder()
  let [text, idle, closed, stalled] = ['', true, false, 0]
  let disarm = () => {}
  let unsubscribe = () => {}
  /** Called when the reader has room again. */
  let resumeFlush = () => {}
  /** Asks the stream to report when it has room. Avoids a promise per chunk while it has room. */
  let requestMore = () => {}
  const close = () => {
    if (closed) return
    closed = true
    unsubscribe()
    disarm()
    resumeFlush()
    onClose()
  }
  const writerFor = (controller: ReadableStreamDefaultController<Uint8Array>): SseWriter => ({
    write(frames) {
      for (const frame of frames) text += formatFrame(frame)
    },
    flush() {
      if (text === '' || closed) return undefined
      controller.enqueue(encoder.encode(text))
      text = ''
      idle = false
      if ((controller.desiredSize ?? 0) > 0) return undefined
      return new Promise((resolve) => {
        resumeFlush = resolve
        requestMore()
      })
    },
    get isFull() {
      return text.length >= flushThreshold
    },
    get closed() {
      return closed
    },
  })
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const disconnect = () => {
        close()
        controller.close()
      }
      if (signal?.aborted === true) return disconnect()
      signal?.addEventListener('abort', disconnect)
      unsubscribe = () => signal?.removeEventListener('abort', disconnect)
      const onHeartbeat = () => {
        const hasRoom = (controller.desiredSize ?? 0) > 0
        stalled = hasRoom ? 0 : stalled + 1
        if (stalled === maxStalledHeartbeats) {
          close()
          return controller.error(new Error('The reader takes nothing any more.'))
        }
        if (idle && hasRoom) controller.enqueue(encoder.encode(':\n\n'))
        idle = true
        disarm = clock.after(heartbeat, onHeartbeat, { idle: true })
      }
      disarm = clock.after(heartbeat, onHeartbeat, { idle: true })
      const out = writerFor(controller)
      const end = () => {
        if (closed) return
        void out.flush()
        close()
        controller.close()
      }
      produce(out).then(end, (error) => {
        close()
        controller.error(error)
      })
    },
    pull() {
      resumeFlush()
      return new Promise((resolve) => (requestMore = resolve))
    },
    cancel: close,
  })
  return new Response(body, { headers: { ...sseHeaders, ...headers } })
}

/** Returns the response to a `HEAD` request for such a stream. */
export function sseHeadResponse(headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { headers: { ...sseHeaders, ...headers } })
}

/** Tells proxies not to cache, change or buffer the stream. */
const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

function formatFrame({ id, event, data }: Frame): string {
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`
}
