type Listener = (reason: unknown) => void

/**
 * A place where work can be cancelled: the run, a narrowed `next({ signal })`, one physical call. Cheaper than an
 * AbortController (1.3 µs on Node 20), which is made only when somebody reads `signal`.
 */
export class Cancel {
  aborted = false
  reason: unknown
  #controller: AbortController | undefined
  /** One listener is the common case. */
  #listener: Listener | undefined
  #listeners: Set<Listener> | undefined

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
    const listener = this.#listener
    const listeners = this.#listeners
    this.#listener = this.#listeners = undefined
    listener?.(reason)
    if (listeners !== undefined) for (const other of listeners) other(reason)
  }

  /** Calls `listener` when cancelled, at once if that was before. */
  on(listener: Listener): void {
    if (this.aborted) listener(this.reason)
    else if (this.#listener === undefined) this.#listener = listener
    else (this.#listeners ??= new Set()).add(listener)
  }

  off(listener: Listener): void {
    if (this.#listener === listener) this.#listener = undefined
    else this.#listeners?.delete(listener)
  }

  /** A narrower place: cancelled with this one, or alone. */
  narrow(): NarrowCancel {
    return new NarrowCancel(this)
  }
}

/** A place inside another one; `release()` unties the two. */
export class NarrowCancel extends Cancel {
  readonly #outer: Cancel
  readonly #follow = (reason: unknown) => this.abort(reason)

  constructor(outer: Cancel) {
    super()
    this.#outer = outer
    outer.on(this.#follow)
  }

  release(): void {
    this.#outer.off(this.#follow)
  }
}
