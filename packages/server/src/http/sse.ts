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
export function sse(produce: (out: SseWriter) => Promise<void>, options: SseOptions): Response {
  const connection = new SseConnection(options)
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => connection.open(controller, produce),
    pull: () => connection.pull(),
    cancel: () => connection.close(),
  })
  return new Response(body, { headers: { ...sseHeaders, ...options.headers } })
}

/** The connection to one reader, from its request until it is gone or has received everything. */
class SseConnection implements SseWriter {
  closed = false
  readonly #options: SseOptions
  readonly #encoder = new TextEncoder()
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #text = ''
  /** Nothing was sent since the last heartbeat. */
  #idle = true
  /** Heartbeats for which the reader had no room. */
  #stalled = 0
  #disarm = () => {}
  /** Called when the reader has room again. */
  #resumeFlush = () => {}
  /** Asks the stream to report when it has room. Avoids a promise per chunk while it has room. */
  #requestMore = () => {}

  constructor(options: SseOptions) {
    this.#options = options
  }

  open(controller: ReadableStreamDefaultController<Uint8Array>, produce: (out: SseWriter) => Promise<void>): void {
    this.#controller = controller
    const { signal } = this.#options
    if (signal?.aborted === true) return this.#disconnect()
    signal?.addEventListener('abort', this.#disconnect)
    this.#armHeartbeat()
    // Clients know from it after which silence a connection is lost.
    this.#text = `: heartbeat ${this.#options.heartbeat}\n\n`
    produce(this).then(
      () => this.#end(),
      (error) => this.#fail(error),
    )
  }

  write(frames: Iterable<Frame>): void {
    for (const frame of frames) this.#text += formatFrame(frame)
  }

  get isFull(): boolean {
    return this.#text.length >= flushThreshold
  }

  flush(): Promise<void> | undefined {
    if (this.#text === '' || this.closed) return undefined
    this.#controller.enqueue(this.#encoder.encode(this.#text))
    this.#text = ''
    this.#idle = false
    if (this.#hasRoom) return undefined
    return new Promise((resolve) => {
      this.#resumeFlush = resolve
      this.#requestMore()
    })
  }

  /** Called by the stream when the reader has room. Resolves when the stream should report room again. */
  pull(): Promise<void> {
    this.#resumeFlush()
    return new Promise((resolve) => {
      this.#requestMore = resolve
    })
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    this.#options.signal?.removeEventListener('abort', this.#disconnect)
    this.#disarm()
    this.#resumeFlush()
    this.#options.onClose()
  }

  get #hasRoom(): boolean {
    return (this.#controller.desiredSize ?? 0) > 0
  }

  readonly #disconnect = (): void => {
    this.close()
    this.#controller.close()
  }

  #end(): void {
    if (this.closed) return
    void this.flush()
    this.#disconnect()
  }

  #fail(error: unknown): void {
    this.close()
    this.#controller.error(error)
  }

  #armHeartbeat(): void {
    const { clock, heartbeat } = this.#options
    this.#disarm = clock.after(heartbeat, () => this.#beat(), { idle: true })
  }

  #beat(): void {
    const hasRoom = this.#hasRoom
    this.#stalled = hasRoom ? 0 : this.#stalled + 1
    if (this.#stalled === maxStalledHeartbeats) return this.#fail(new Error('The reader stopped reading.'))
    if (this.#idle && hasRoom) this.#controller.enqueue(this.#encoder.encode(':\n\n'))
    this.#idle = true
    this.#armHeartbeat()
  }
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
