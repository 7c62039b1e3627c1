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
  left(): void
}

/** The way out to one reader. */
export interface SseOut {
  /** Keeps frames until `flush()`. */
  write(frames: Iterable<Frame>): void
  /** Enough is kept that it should go out. */
  readonly isFull: boolean
  /** Sends what is kept as one piece, and waits while the reader has no room. */
  flush(): Promise<void> | undefined
  readonly gone: boolean
}

/** Characters that are kept at most before they go out. */
const piece = 16_384
/** Heartbeats after which a reader who takes nothing is dropped. It can come back with the id of its last event. */
const patience = 8

/**
 * A stream of server-sent events: `tell` writes them, and is over with the last one. It waits while its reader has no room, and
 * the reader is told that the stream lives while none comes.
 */
export function sse(
  tell: (out: SseOut) => Promise<void>,
  { clock, heartbeat, headers, signal, left }: SseOptions,
): Response {
  const encoder = new TextEncoder()
  let [text, silent, gone, stalled] = ['', true, false, 0]
  let disarm = () => {}
  let unlisten = () => {}
  /** The reader has room again. */
  let free = () => {}
  /** From now on the stream tells when it has room: no promise for each piece while it has. */
  let ask = () => {}
  const leave = () => {
    if (gone) return
    gone = true
    unlisten()
    disarm()
    free()
    left()
  }
  const outTo = (controller: ReadableStreamDefaultController<Uint8Array>): SseOut => ({
    write(frames) {
      for (const frame of frames) text += lines(frame)
    },
    flush() {
      if (text === '' || gone) return undefined
      controller.enqueue(encoder.encode(text))
      text = ''
      silent = false
      if ((controller.desiredSize ?? 0) > 0) return undefined
      return new Promise((resolve) => {
        free = resolve
        ask()
      })
    },
    get isFull() {
      return text.length >= piece
    },
    get gone() {
      return gone
    },
  })
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const disconnect = () => {
        leave()
        controller.close()
      }
      if (signal?.aborted === true) return disconnect()
      signal?.addEventListener('abort', disconnect)
      unlisten = () => signal?.removeEventListener('abort', disconnect)
      const beat = () => {
        const hasRoom = (controller.desiredSize ?? 0) > 0
        stalled = hasRoom ? 0 : stalled + 1
        if (stalled === patience) {
          leave()
          return controller.error(new Error('The reader takes nothing any more.'))
        }
        if (silent && hasRoom) controller.enqueue(encoder.encode(':\n\n'))
        silent = true
        disarm = clock.after(heartbeat, beat, { idle: true })
      }
      disarm = clock.after(heartbeat, beat, { idle: true })
      const out = outTo(controller)
      const end = () => {
        if (gone) return
        void out.flush()
        leave()
        controller.close()
      }
      tell(out).then(end, (error) => {
        leave()
        controller.error(error)
      })
    },
    pull() {
      free()
      return new Promise((resolve) => (ask = resolve))
    },
    cancel: leave,
  })
  return new Response(body, { headers: { ...sseHeaders, ...headers } })
}

/** What a `HEAD` request is told of such a stream. */
export function sseHead(headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { headers: { ...sseHeaders, ...headers } })
}

/** No proxy is to keep, change or gather what comes. */
const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

function lines({ id, event, data }: Frame): string {
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`
}
