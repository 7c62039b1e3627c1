/** Runs that ended here with an error that the event log could not store. Readers in this process still receive the error. */
export class UnloggedEnds {
  readonly #readers = new Set<{ readonly run: string; readonly controller: AbortController }>()

  /** Watches a run for one reader. The signal aborts with the error that the run ended with. */
  watch(run: string): { readonly signal: AbortSignal; stop(): void } {
    const reader = { run, controller: new AbortController() }
    this.#readers.add(reader)
    return { signal: reader.controller.signal, stop: () => this.#readers.delete(reader) }
  }

  /** Ends the run for all its readers. */
  end(run: string, error: unknown): void {
    for (const reader of this.#readers) if (reader.run === run) reader.controller.abort(error)
  }
}
