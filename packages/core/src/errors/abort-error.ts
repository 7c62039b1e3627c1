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

/**
 * Recorded for a step whose attempt was abandoned while the run continued: a signal aborted, or the enclosing layer did not wait for it.
 * A replay abandons the attempt at the same point, for the same reason, or waits until that layer continues. It runs no step again.
 */
export class AbandonedError extends Error {
  override readonly name = 'LeftError'
  /** How many enclosing attempts were abandoned with the step's own; undefined if the layer around them had already returned or thrown. */
  readonly by: number | undefined

  /** @param reason the rejection of the next() that had opened the attempt */
  constructor(by: number | undefined, reason: unknown) {
    super('The attempt was abandoned.', { cause: reason })
    this.by = by
  }
}
