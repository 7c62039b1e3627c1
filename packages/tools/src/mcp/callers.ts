import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

/** Whose a message is. Requests are sent at once when the SDK is asked, and fetched later, with nothing but their text. */
export class Callers {
  #now: { readonly principal: unknown } | undefined
  /** By the id of a request, for its cancellation too; the last ones. */
  readonly #byId = new Map<unknown, unknown>()

  sendFor<T>(principal: unknown, send: () => T): T {
    this.#now = { principal }
    try {
      return send()
    } finally {
      this.#now = undefined
    }
  }

  watch(transport: Pick<StreamableHTTPClientTransport, 'send'>): void {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => {
      if (this.#now !== undefined && 'id' in message) this.#keep(message.id, this.#now.principal)
      return send(message, options)
    }
  }

  /** The principal of the message that a request carries, if it is somebody's. */
  of(body: unknown): unknown {
    if (typeof body !== 'string' || this.#byId.size === 0) return undefined
    const { id, params } = JSON.parse(body) as { id?: unknown; params?: { requestId?: unknown } }
    return this.#byId.get(id ?? params?.requestId)
  }

  #keep(id: unknown, principal: unknown): void {
    this.#byId.set(id, principal)
    if (this.#byId.size > most) this.#byId.delete(this.#byId.keys().next().value)
  }
}

/** More than can run at once. */
const most = 10_000
