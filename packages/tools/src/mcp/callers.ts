import type { CallToolResult, StreamableHTTPClientTransport, Tool } from '@modelcontextprotocol/client'
import type { Continuation, InputNeeded, Question, Reply } from './question.ts'
import type { SamplingAnswer, SamplingRequest } from './sampling.ts'

/** The caller of a call, with its abort signal. */
export interface Caller {
  readonly signal: AbortSignal
  readonly principal: unknown
  /** What an earlier call of the same needed. */
  readonly goOn?: Continuation
  /** Answers the server's questions during the call; if missing, they are declined. */
  ask?(question: Question): Promise<Reply>
  /** Answers with the model; if missing, the server's request is rejected. */
  sample?(request: SamplingRequest): Promise<SamplingAnswer>
}

/** Sends calls to the server. */
export interface Calls {
  /** @param tool its definition when the agent began */
  call(tool: Tool, args: Record<string, unknown>, caller: Caller): Promise<CallToolResult | InputNeeded>
  close(): Promise<void>
}

/**
 * Finds the caller of a message. The SDK fetches a request later, with only its text. A server's question belongs to the call whose
 * response contains it, which the SDK does not report.
 */
export class Callers {
  #keys = 0
  readonly #byKey = new Map<unknown, Caller>()
  /** By request id, also for cancellations; the most recent ones. */
  readonly #byId = new Map<unknown, Caller>()
  /** By the id of the server's question. */
  readonly #byQuestion = new Map<unknown, Caller>()

  /** Returns the headers that tell `watch` the caller of a request. They are not sent. */
  headersFor(caller: Caller): Record<string, string> {
    const key = String(this.#keys++)
    remember(this.#byKey, key, caller)
    return { [callerHeader]: key }
  }

  watch(transport: Pick<StreamableHTTPClientTransport, 'send'>): void {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => {
      const { [callerHeader]: key, ...headers } = options?.headers ?? {}
      const caller = this.#byKey.get(key)
      if (caller !== undefined && 'id' in message) remember(this.#byId, message.id, caller)
      return send(message, { ...options, headers })
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

const callerHeader = 'allium-caller'
/** More than can run at once. */
const maxTracked = 10_000
