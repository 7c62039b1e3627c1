/**
 * What a journal keeps of a step whose attempt was left while the run went on: a signal fired, or the layer around it went on without
 * it. A replay leaves the attempt in the same place, for the same reason, or waits until that layer goes on again; it asks nobody.
 */
export class AbandonedError extends Error {
  override readonly name = 'LeftError'
  /** How many attempts around the step's own were left with it; undefined where the layer around them had gone on by itself. */
  readonly by: number | undefined

  /** @param reason what the next() rejected with that had opened the attempt */
  constructor(by: number | undefined, reason: unknown) {
    super('The attempt was left.', { cause: reason })
    this.by = by
  }
}
