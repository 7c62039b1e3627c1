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
  /** The reader is gone, or has all. */
  left(): void
}

/** A stream of server-sent events: it takes a frame when its reader has room, and tells that it lives while none comes. */
export function sse(frames: AsyncIterator<Frame>, { clock, heartbeat, headers, left }: SseOptions): Response {
  const encoder = new TextEncoder()
  let silent = true
  let disarm = () => {}
  let gone = false
  const leave = () => {
    if (gone) return
    gone = true
    disarm()
    left()
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const beat = () => {
        if (silent && (controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(':\n\n'))
        silent = true
        disarm = clock.after(heartbeat, beat, { idle: true })
      }
      disarm = clock.after(heartbeat, beat, { idle: true })
    },
    async pull(controller) {
      const { value, done } = await frames.next()
      if (gone) return
      if (done === true) {
        leave()
        return controller.close()
      }
      silent = false
      controller.enqueue(encoder.encode(lines(value)))
    },
    cancel: leave,
  })
  return new Response(body, { headers: { ...sseHeaders, ...headers } })
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
