/**
 * A place where work can be cancelled: the run, a narrowed `next({ signal })`, one physical call. Cheaper than an
 * AbortController (1.3 µs on Node 20), which is made only when somebody reads `signal`.
 */
export class Cancel {
  aborted = false
  reason: unknown
  #controller: AbortController | undefined
  #listeners: Set<(reason: unknown) => void> | undefined

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.aborted) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }

  /** Cancels once; a second call changes nothing. */
  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#controller?.abort(reason)
    const listeners = this.#listeners
    this.#listeners = undefined
    if (listeners !== undefined) for (const listener of listeners) listener(reason)
  }

  /** Calls `listener` when cancelled, at once if that was before. */
  on(listener: (reason: unknown) => void): void {
    if (this.aborted) return listener(this.reason)
    this.#listeners ??= new Set()
    this.#listeners.add(listener)
  }

  off(listener: (reason: unknown) => void): void {
    this.#listeners?.delete(listener)
  }

  /** A narrower place: cancelled with this one, or alone. `release()` unties the two. */
  narrow(): Cancel & { release(): void } {
    const inner = new Cancel()
    const follow = (reason: unknown) => inner.abort(reason)
    this.on(follow)
    return Object.assign(inner, { release: () => this.off(follow) })
  }
}
