import type { InnerRun, OnceOptions } from '../contexts/turn.ts'
import type { KeysOf } from '../errors/known-options.ts'
import { directJournal, isDirect, type Journal, noItems } from '../ports/journal.ts'

type OnceWork<T> = (inner: InnerRun) => T | Promise<T>

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
  readonly #counts = new Map<string, number>()

  constructor(turn: OnceHost) {
    this.#turn = turn
  }

  /**
   * Runs `fn` once per key. A failure rejects only the first caller; concurrent and later callers run their own `fn`.
   * Each try is a separate step of the journal.
   */
  run<T>(key: string, fn: OnceWork<T>, layer: string): Promise<T> {
    const { once: done } = this.#turn.session
    if (done.has(key)) return Promise.resolve(done.get(key) as T)
    const known = this.#tries.get(key) ?? { count: 0, made: undefined }
    this.#tries.set(key, known)
    if (known.made !== undefined) return (known.made as Promise<T>).catch(() => this.run(key, fn, layer))
    const count = ++known.count
    const made = Promise.resolve().then(() => this.#step(key, count, fn, layer))
    known.made = made
    made.then(
      (value) => done.set(key, value),
      () => (known.made = undefined),
    )
    return made
  }

  /** Runs `fn` for one attempt. `key` is unique in the run per layer and attempt. Repeated calls with it are separate steps. */
  inAttempt<T>(key: string, fn: OnceWork<T>, layer?: string): T | Promise<T> {
    if (this.#turn.journal === directJournal) return fn({})
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return Promise.resolve(this.#step(key, count, fn, layer))
  }

  #step<T>(key: string, count: number, fn: OnceWork<T>, layer?: string): T | PromiseLike<T> {
    const { journal, turnId } = this.#turn
    const id = `${turnId}:once:${key}:${count}`
    const inner = isDirect(journal) ? {} : { turnId: id, journal }
    return journal.step(id, () => fn(inner), noItems, layer)
  }
}
