import type { Clock } from '@allium/core'

/** One event of a stream of server-sent events. */
export interface Frame {
  /** One line each of id, event and data. */
  id?: string
  event?: string
  data: string
}

export interface SseOptions {
  readonly clock: Clock
  /** Milliseconds. */
  readonly heartbeat: number
  readonly headers?: Readonly<Record<string, string>>
  /** Aborts when the client disconnects, also before the first byte. */
  readonly signal?: AbortSignal | undefined
  /** The reader is gone, or has all. */
  onClose(): void
}

/** The way out to one reader. */
export interface SseWriter {
  /** Keeps frames until `flush()`. */
  write(frames: Iterable<Frame>): void
  /** Enough is kept that it should go out. */
  readonly isFull: boolean
  /** Sends what is kept as one piece, and waits while the reader has no room. */
  flush(): Promise<void> | undefined
  readonly closed: boolean
}

/** Characters that are kept at most before they go out. */
const flushThreshold = 16_384
/** Heartbeats after which a reader who takes nothing is dropped. It can come back with the id of its last event. */
const maxStalledHeartbeats = 8

/**
 * A stream of server-sent events: `tell` writes them, and is over with the last one. It waits while its reader has no room, and
 * the reader is told that the stream lives while none comes.
 */
export function sse(
  produce: (out: SseWriter) => Promise<void>,
  { clock, heartbeat, headers, signal, onClose }: SseOptions,
): Response {
  const encoder = new TextEncoder()
  let [text, idle, closed, stalled] = ['', true, false, 0]
  let disarm = () => {}
  let unsubscribe = () => {}
  /** The reader has room again. */
  let resumeFlush = () => {}
  /** From now on the stream tells when it has room: no promise for each piece while it has. */
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

/** What a `HEAD` request is told of such a stream. */
export function sseHeadResponse(headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { headers: { ...sseHeaders, ...headers } })
}

/** No proxy is to keep, change or gather what comes. */
const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

function formatFrame({ id, event, data }: Frame): string {
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`
}
