/** Runs that ended here with an error that the event log could not store. Readers in this process still receive the error. */
export class UnloggedEnds {
  readonly #readers = new Map<string, Set<AbortController>>()

  /** Watches a run for one reader. The signal aborts with the error that the run ended with. */
  watch(run: string): { readonly signal: AbortSignal; stop(): void } {
    const reader = new AbortController()
    const readers = this.#readers.get(run) ?? new Set()
    this.#readers.set(run, readers.add(reader))
    const stop = () => {
      readers.delete(reader)
      if (readers.size === 0) this.#readers.delete(run)
    }
    return { signal: reader.signal, stop }
  }

  /** Ends the run for all its readers. */
  end(run: string, error: unknown): void {
    for (const reader of this.#readers.get(run) ?? []) reader.abort(error)
  }
}
