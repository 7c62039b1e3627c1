import { tooLargeAnswer } from './too-large.ts'

/** The maximum number of bytes read from an error body, which becomes part of a log line. */
const maxErrorBytes = 65_536

/**
 * Limits the size of a server's response. A message that is too large is replaced by a JSON-RPC error, so that the pending
 * request ends.
 *
 * @param sent the body of the request
 */
export async function boundedResponse(response: Response, sent: unknown, maxBytes: number): Promise<Response> {
  const { body, status } = response
  // A redirect is not read.
  if (body === null || status < 200 || (status >= 300 && status < 400)) return response
  if (status >= 400) return copy(response, (await readUpTo(body, maxErrorBytes)).bytes)
  const id = idOf(sent)
  if (mediaTypeOf(response) === 'text/event-stream')
    return copy(response, boundedEvents(body, maxBytes, tooLargeAnswer(id, maxBytes)))
  const { bytes, isWhole } = await readUpTo(body, maxBytes)
  return copy(response, isWhole ? bytes : JSON.stringify(tooLargeAnswer(id, maxBytes)))
}

/** Reads the first bytes of a body and cancels the rest. */
export async function readUpTo(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; isWhole: boolean }> {
  const chunks: Uint8Array[] = []
  let remaining = maxBytes
  let isWhole = true
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    chunks.push(chunk.subarray(0, remaining))
    isWhole = chunk.byteLength <= remaining
    remaining -= chunk.byteLength
    if (!isWhole) break
  }
  return { bytes: concat(chunks), isWhole }
}

/**
 * Passes events until one is too large. Then it sends the answer and leaves the stream open without further events, because at
 * the end of the stream the SDK would request the same event again.
 */
function boundedEvents(body: ReadableStream<Uint8Array>, maxBytes: number, answer: object): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const size = new EventSize()
  const end = new TextEncoder().encode(`\n\nevent: message\ndata: ${JSON.stringify(answer)}\n\n`)
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) return controller.close()
      if (size.after(value) <= maxBytes) return controller.enqueue(value)
      controller.enqueue(end)
      await reader.cancel().catch(() => {})
      await new Promise(() => {})
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/**
 * Counts the bytes of the event that a stream is in:
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
class EventSize {
  #size = 0
  #line = 0
  #lastByte = 0

  /** Returns the size of the largest event that these bytes belong to. */
  after(bytes: Uint8Array): number {
    let largest = 0
    for (const byte of bytes) {
      this.#add(byte)
      if (this.#size > largest) largest = this.#size
    }
    return largest
  }

  #add(byte: number): void {
    const isSecondOfTwo = byte === lineFeed && this.#lastByte === carriageReturn
    this.#lastByte = byte
    if (isSecondOfTwo) return
    const isEnd = byte === lineFeed || byte === carriageReturn
    // An empty line ends an event.
    this.#size = isEnd && this.#line === 0 ? 0 : this.#size + 1
    this.#line = isEnd ? 0 : this.#line + 1
  }
}

const [lineFeed, carriageReturn] = [0x0a, 0x0d]

function idOf(sent: unknown): unknown {
  if (typeof sent !== 'string') return null
  const { id = null } = JSON.parse(sent) as { id?: unknown }
  return id
}

function mediaTypeOf({ headers }: Response): string | undefined {
  return headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
}

function copy(
  { status, statusText, headers }: Response,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
): Response {
  return new Response(body, { status, statusText, headers })
}

function concat(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.byteLength, 0))
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.byteLength
  }
  return all
}
