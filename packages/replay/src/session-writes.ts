/** The recordings of a session that are being stored, one at a time. */
export class SessionWrites {
  #last: Promise<void> = Promise.resolve()

  /** Begins a write when the one before has ended. It must not reject. */
  async begin(write: () => Promise<void>): Promise<void> {
    await this.#last
    this.#last = write()
  }

  /** Resolves when all have ended. */
  ended(): Promise<void> {
    return this.#last
  }
}
