import { type Clock, followSignal } from '@allium/core'

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
  readonly signal: AbortSignal
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

/** Where a stream is written to: a web stream, or the socket of a server. */
interface SseSink {
  /** Returns whether the reader has room for more. If not, `ready()` is called once it has. */
  write(text: string): boolean
  /** Ends the stream, or breaks it off with a failure. */
  end(failure: Error | undefined): void
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
  connection.open(produce)
  return responseOf(bodyOf(connection), options.headers)
}

/** The body of such a stream. A server with a socket can connect it there instead of reading it. */
export interface SseBody extends ReadableStream<Uint8Array> {
  readonly connection: SseConnection
}

/** Each read has room for one chunk. Nothing is written before the first read, so a socket can still be connected. */
function bodyOf(connection: SseConnection): SseBody {
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        connection.connect({
          write(text) {
            controller.enqueue(encoder.encode(text))
            return false
          },
          end: (failure) => (failure === undefined ? controller.close() : controller.error(failure)),
        })
      },
      pull: () => connection.ready(),
      cancel: () => connection.close(),
    },
    { highWaterMark: 0 },
  )
  return Object.assign(stream, { connection })
}

const encoder = new TextEncoder()

/** The connection to one reader, from its request until it is gone or has received everything. */
class SseConnection implements SseWriter {
  closed = false
  readonly #options: SseOptions
  #sink: SseSink | undefined
  /** The reader has room for a chunk. */
  #hasRoom = false
  #text = ''
  #failure: Error | undefined
  /** Nothing was sent since the last heartbeat. */
  #idle = true
  /** Heartbeats for which the reader had no room. */
  #stalled = 0
  #disarm = () => {}
  #unfollow = () => {}
  /** Called when the reader has room again. */
  #resumeFlush = () => {}

  constructor(options: SseOptions) {
    this.#options = options
  }

  open(produce: (out: SseWriter) => Promise<void>): void {
    const { signal, heartbeat } = this.#options
    this.#armHeartbeat()
    // Clients know from it after which silence a connection is lost.
    this.#text = `: heartbeat ${heartbeat}\n\n`
    this.#unfollow = followSignal(signal, () => this.#drop())
    if (this.closed) return
    produce(this).then(
      () => this.#end(),
      (error) => this.#drop(error),
    )
  }

  /** Sets where the stream is written to, before anything was. */
  connect(sink: SseSink): void {
    this.#sink = sink
  }

  /** Called by the sink when the reader has room. */
  ready(): void {
    this.#hasRoom = true
    this.#send()
    if (this.#hasRoom) this.#resumeFlush()
  }

  write(frames: Iterable<Frame>): void {
    for (const frame of frames) this.#text += formatFrame(frame)
  }

  get isFull(): boolean {
    return this.#text.length >= flushThreshold
  }

  flush(): Promise<void> | undefined {
    if (this.#text === '' || this.closed) return undefined
    this.#send()
    if (this.#hasRoom) return undefined
    return new Promise((resolve) => (this.#resumeFlush = resolve))
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    this.#unfollow()
    this.#disarm()
    this.#resumeFlush()
    this.#options.onClose()
  }

  /** Sends the buffer if the reader has room. Ends the stream if it is over. */
  #send(): void {
    const sink = this.#sink
    if (sink === undefined || !this.#hasRoom) return
    if (this.#text !== '') {
      this.#hasRoom = sink.write(this.#text)
      this.#text = ''
      this.#idle = false
    }
    if (this.closed) sink.end(this.#failure)
  }

  #end(): void {
    if (this.closed) return
    this.close()
    this.#send()
  }

  /** Ends the stream without the rest, because nobody reads it, or because of a failure. */
  #drop(failure?: Error): void {
    this.#failure = failure
    this.close()
    this.#text = ''
    this.ready()
  }

  #armHeartbeat(): void {
    const { clock, heartbeat } = this.#options
    this.#disarm = clock.after(heartbeat, () => this.#beat(), { idle: true })
  }

  #beat(): void {
    this.#stalled = this.#hasRoom ? 0 : this.#stalled + 1
    if (this.#stalled === maxStalledHeartbeats) return this.#drop(new Error('The reader stopped reading.'))
    if (this.#idle && this.#hasRoom) this.#hasRoom = this.#sink?.write(':\n\n') ?? false
    this.#idle = true
    this.#armHeartbeat()
  }
}

/** Returns the response to a `HEAD` request for such a stream. */
export function sseHeadResponse(headers?: SseOptions['headers']): Response {
  return responseOf(null, headers)
}

function responseOf(body: SseBody | null, headers: SseOptions['headers']): Response {
  return new Response(body, { headers: { ...sseHeaders, ...headers } })
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
