import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Caller } from './link.ts'

/**
 * Whose a message is. Requests are sent at once when the SDK is asked, and fetched later, with nothing but their text; and what a server asks
 * belongs to the call in whose answer it stands, which the SDK does not tell.
 */
export class Callers {
  #now: Caller | undefined
  /** By the id of a request, for its cancellation too; the last ones. */
  readonly #byId = new Map<unknown, Caller>()
  /** By the id of what the server asks. */
  readonly #byQuestion = new Map<unknown, Caller>()

  sendFor<T>(caller: Caller, send: () => T): T {
    this.#now = caller
    try {
      return send()
    } finally {
      this.#now = undefined
    }
  }

  watch(transport: Pick<StreamableHTTPClientTransport, 'send'>): void {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => {
      if (this.#now !== undefined && 'id' in message) remember(this.#byId, message.id, this.#now)
      return send(message, options)
    }
  }

  /** The caller of the message that a request carries, if it is somebody's. */
  of(body: unknown): Caller | undefined {
    if (typeof body !== 'string') return undefined
    const { id, method, params } = JSON.parse(body) as {
      id?: unknown
      method?: unknown
      params?: { requestId?: unknown }
    }
    return method === undefined ? this.#byQuestion.get(id) : this.#byId.get(id ?? params?.requestId)
  }

  /** In whose call the server has asked something. */
  callerOf(requestId: unknown): Caller | undefined {
    return this.#byQuestion.get(requestId)
  }

  /** The answer to a message of a caller's, with what the server asks in it noted. */
  trackResponse(response: Response, body: unknown): Response {
    const caller = this.of(body)
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (caller === undefined || (caller.ask ?? caller.sample) === undefined || response.body === null || !isStream)
      return response
    const decoder = new TextDecoder()
    // The line so far. Joining it with each chunk would take time by the square of its length.
    let pieces: string[] = []
    const note = new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, controller) => {
        const [first = '', ...lines] = decoder.decode(bytes, { stream: true }).split(/\r\n|\n|\r/)
        pieces.push(first)
        for (const line of lines) {
          this.#note(pieces.join(''), caller)
          pieces = [line]
        }
        controller.enqueue(bytes)
      },
    })
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(note), { status, statusText, headers })
  }

  #note(line: string, caller: Caller): void {
    if (!line.startsWith('data:') || !line.includes('"method"')) return
    try {
      const { id } = JSON.parse(line.slice(5)) as { id?: unknown }
      if (id !== undefined) remember(this.#byQuestion, id, caller)
    } catch {
      // The SDK says what it thinks of it.
    }
  }
}

function remember(map: Map<unknown, Caller>, id: unknown, caller: Caller): void {
  map.set(id, caller)
  if (map.size > maxTracked) map.delete(map.keys().next().value)
}

/** More than can run at once. */
const maxTracked = 10_000
