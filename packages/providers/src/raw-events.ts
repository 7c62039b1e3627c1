import { errorIn, partError, truncatedStream } from './failure.ts'

interface RawEvent {
  type?: unknown
  error?: unknown
  response?: { error?: unknown } | null
  /** Chat completions. */
  choices?: { finish_reason?: unknown }[]
  /** Ollama's API: false until the last event. */
  done?: unknown
}

/** What the raw events of a provider tell and its package may drop: an error, the reason of the end, and that the end is missing. */
export class RawEvents {
  last: unknown
  /** The reason of a chat completion. A package of V2 has no field for it, and that of Databricks forgets it. */
  reason: string | undefined
  #error: unknown
  #done: unknown

  /** @throws AlliumError `model.failed` for OpenAI's failed response, which its v2 package ignores */
  read(raw: unknown): void {
    this.last = raw
    const { type, response, error, choices, done = this.#done } = (raw ?? {}) as RawEvent
    if (type === 'response.failed') throw partError(response?.error ?? { message: 'The response failed.' })
    const reason = choices?.[0]?.finish_reason
    if (typeof reason === 'string' && reason !== '') this.reason = reason
    this.#error ||= error
    this.#done = done
  }

  /**
   * Returns the error of an `error` part, from the raw event if the package passed on only its message. The type of a Bedrock event
   * or exception is its only key.
   */
  errorOf(error: unknown): unknown {
    const event = typeof error === 'string' ? (errorIn(this.last) ?? error) : error
    return partError(event, Object.keys(this.last ?? {})[0])
  }

  /** @throws the error that the package ignored; AlliumError `model.truncated` if the last event is missing */
  checkEnd(): void {
    if (this.#error) throw this.errorOf({ error: this.#error })
    if (this.#done === false) throw truncatedStream()
  }
}
