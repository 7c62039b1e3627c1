/** Runs that ended here with an error that the event log could not store. Readers in this process still receive the error. */
export class UnloggedEnds {
  readonly #readers = new Map<string, Set<Reader>>()

  /** Watches a run for one reader. */
  watch(run: string): Reader & { stop(): void } {
    const reader: Reader = { abortController: new AbortController(), error: undefined }
    const readers = this.#readers.get(run) ?? new Set()
    this.#readers.set(run, readers.add(reader))
    return Object.assign(reader, {
      stop: () => {
        readers.delete(reader)
        if (readers.size === 0) this.#readers.delete(run)
      },
    })
  }

  /** Ends the run for all its readers. */
  end(run: string, error: unknown): void {
    for (const reader of this.#readers.get(run) ?? []) {
      reader.error = error
      reader.abortController.abort()
    }
  }
}

interface Reader {
  readonly abortController: AbortController
  /** Why the run ended. Undefined while it is running, or if the log has the end. */
  error: unknown
}
