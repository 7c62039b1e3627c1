import { partError } from './failure.ts'

/** Throws for OpenAI's failed response, which its v2 package ignores. */
export function throwIfFailed(raw: unknown): void {
  const { type, response } = (raw ?? {}) as { type?: unknown; response?: { error?: unknown } | null }
  if (type === 'response.failed') throw partError(response?.error ?? { message: 'The response failed.' })
}

/** Returns the error from the raw event, because some packages pass on only its message. */
export function errorWithRaw(error: unknown, raw: unknown): unknown {
  const { error: errorBody } = (raw ?? {}) as { error?: unknown }
  return typeof error === 'string' && typeof errorBody === 'object' && errorBody !== null ? errorBody : error
}

/** Returns the type of a Bedrock event or exception, which is its only key. */
export function typeOf(raw: unknown): string | undefined {
  return typeof raw === 'object' && raw !== null ? Object.keys(raw)[0] : undefined
}
