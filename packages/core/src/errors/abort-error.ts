/** A run, or the call of one layer, was aborted. `reason` is the argument of `abort(reason)`. */
export class AbortError extends Error {
  override readonly name = 'AbortError'
  readonly reason: unknown

  constructor(reason?: unknown) {
    super(message(reason), reason instanceof Error ? { cause: reason } : undefined)
    this.reason = reason
  }
}

/** Returns the error for an abort reason. Keeps an AbortError, except a DOMException, unchanged. */
export function toAbortError(reason: unknown): Error {
  if (reason instanceof Error && reason.name === 'AbortError' && !(reason instanceof DOMException)) return reason
  return new AbortError(reason)
}

function message(reason: unknown): string {
  if (typeof reason === 'string' && reason !== '') return `The run was aborted: ${reason}`
  // The platform's own message differs: "This operation was aborted".
  if (reason instanceof DOMException && reason.name === 'AbortError') return 'The run was aborted by its signal.'
  if (reason instanceof Error && reason.message !== '') return `The run was aborted: ${reason.message}`
  return 'The run was aborted.'
}
