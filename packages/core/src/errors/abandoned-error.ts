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
    super('The attempt was left.', { cause: reason })
    this.by = by
  }
}
