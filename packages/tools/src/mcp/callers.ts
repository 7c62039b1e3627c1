import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { Question, Reply } from './question.ts'
import type { SamplingAnswer, SamplingRequest } from './sampling.ts'

/** The caller of a call, with its abort signal. */
export interface Caller {
  readonly signal: AbortSignal
  readonly principal: unknown
  /** Answers the server's questions during the call; if missing, they are declined. */
  ask?(question: Question): Promise<Reply>
  /** Answers with the model; if missing, the server's request is rejected. */
  sample?(request: SamplingRequest): Promise<SamplingAnswer>
}

/** Sends calls to the server. */
export interface Calls {
  call(name: string, args: Record<string, unknown>, caller: Caller): Promise<CallToolResult>
  close(): Promise<void>
}

/**
 * Finds the caller of a message. The SDK sends a request synchronously but fetches it later, with only its text. A server's question
 * belongs to the call whose response contains it, which the SDK does not report.
 */
export class Callers {
  #now: Caller | undefined
  /** By request id, also for cancellations; the most recent ones. */
  readonly #byId = new Map<unknown, Caller>()
  /** By the id of the server's question. */
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

  /** Returns the caller of the message in a request, if it has one. */
  of(body: unknown): Caller | undefined {
    if (typeof body !== 'string') return undefined
    const { id, method, params } = JSON.parse(body) as {
      id?: unknown
      method?: unknown
      params?: { requestId?: unknown }
    }
    return method === undefined ? this.#byQuestion.get(id) : this.#byId.get(id ?? params?.requestId)
  }

  /** Returns the caller in whose call the server asked a question. */
  callerOf(requestId: unknown): Caller | undefined {
    return this.#byQuestion.get(requestId)
  }

  /** Returns the response unchanged, and records the questions in it. */
  trackResponse(response: Response, body: unknown): Response {
    const caller = this.of(body)
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (caller === undefined || (caller.ask ?? caller.sample) === undefined || response.body === null || !isStream)
      return response
    const decoder = new TextDecoder()
    // The pieces of the current line. Joining them at each chunk would take quadratic time.
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
      // The SDK reports the error.
    }
  }
}

function remember(map: Map<unknown, Caller>, id: unknown, caller: Caller): void {
  map.set(id, caller)
  if (map.size > maxTracked) map.delete(map.keys().next().value)
}

/** More than can run at once. */
const maxTracked = 10_000
