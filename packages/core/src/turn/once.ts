import type { InnerRun, OnceOptions } from '../contexts/turn.ts'
import type { KeysOf } from '../errors/known-options.ts'
import { directJournal, isDirect, type Journal } from '../ports/journal.ts'

export const ofOnce: KeysOf<OnceOptions> = { per: true }

interface Try {
  count: number
  made: Promise<unknown> | undefined
}

/** The turn whose results it remembers. */
interface OnceHost {
  readonly turnId: string
  readonly journal: Journal
  readonly session: { readonly once: Map<string, unknown> }
}

/** Implements `ctx.once()`: runs a function once per key, across suspensions too. */
export class Once {
  readonly #turn: OnceHost
  readonly #tries = new Map<string, Try>()
  #counts: Map<string, number> | undefined

  constructor(turn: OnceHost) {
    this.#turn = turn
  }

  /**
   * Runs `fn` once per key. A failure rejects only the first caller; concurrent and later callers run their own `fn`.
   * Each try is a separate step of the journal.
   */
  run<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>): Promise<T> {
    const { once: done } = this.#turn.session
    if (done.has(key)) return Promise.resolve(done.get(key) as T)
    const known = this.#tries.get(key) ?? { count: 0, made: undefined }
    this.#tries.set(key, known)
    if (known.made !== undefined) return (known.made as Promise<T>).catch(() => this.run(key, fn))
    const id = `${this.#turn.turnId}:once:${key}:${++known.count}`
    const made = Promise.resolve().then(() => this.#step(id, fn))
    known.made = made
    made.then(
      (value) => done.set(key, value),
      () => (known.made = undefined),
    )
    return made
  }

  /** Runs `fn` for one attempt. `key` is unique in the run per layer and attempt. Repeated calls with it are separate steps. */
  inAttempt<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>): T | Promise<T> {
    const { journal } = this.#turn
    if (journal === directJournal) return fn({})
    this.#counts ??= new Map()
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return Promise.resolve(this.#step(`${this.#turn.turnId}:once:${key}:${count}`, fn))
  }

  #step<T>(id: string, fn: (inner: InnerRun) => T | Promise<T>): T | PromiseLike<T> {
    const { journal } = this.#turn
    const inner = isDirect(journal) ? {} : { turnId: id, journal }
    return journal.step(
      id,
      () => fn(inner),
      () => {},
    )
  }
}
