import { partError } from './failure.ts'

/** OpenAI's failed response, which its v2 package passes over. */
export function throwIfFailed(raw: unknown): void {
  const { type, response } = (raw ?? {}) as { type?: unknown; response?: { error?: unknown } | null }
  if (type === 'response.failed') throw partError(response?.error ?? { message: 'The response failed.' })
}

/** Some packages pass on the message alone: the event has more. */
export function errorWithRaw(error: unknown, raw: unknown): unknown {
  const { error: errorBody } = (raw ?? {}) as { error?: unknown }
  return typeof error === 'string' && typeof errorBody === 'object' && errorBody !== null ? errorBody : error
}

/** Bedrock's events are named by their one key, its exceptions too. */
export function typeOf(raw: unknown): string | undefined {
  return typeof raw === 'object' && raw !== null ? Object.keys(raw)[0] : undefined
}
