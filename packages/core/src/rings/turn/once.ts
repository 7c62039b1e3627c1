import type { KeysOf } from '../../errors/known-options.ts'
import { directJournal, isDirect, type Journal } from '../../seams/journal.ts'
import type { Turn } from './turn.ts'

export interface OnceOptions {
  /**
   * What the key is for. `turn`: once in this turn, over a suspension too; the result is in snapshots until the turn ends. `attempt`:
   * what a layer finds or chooses in one attempt of its call, such as a look-up, so that a run that is replayed finds and chooses
   * the same; the run's journal keeps it, and where there is none the function is just called, each time.
   *
   * @default 'turn'
   */
  per: 'turn' | 'attempt'
}

export const ofOnce: KeysOf<OnceOptions> = { per: true }

/**
 * Options for runs of an agent of one's own inside `ctx.once()`: with them each of its model calls is a step of the turn's journal, and
 * none is paid again where the process dies before all that `once` does has ended. Nothing where the turn has no journal.
 */
export interface InnerRun {
  readonly turnId?: string
  readonly journal?: Journal
}

interface Try {
  count: number
  made: Promise<unknown> | undefined
}

/** `ctx.once()`: one run of a function for each key, also over a suspension, however often it is asked for. */
export class Once {
  readonly #turn: Turn
  readonly #tries = new Map<string, Try>()
  #counts: Map<string, number> | undefined

  constructor(turn: Turn) {
    this.#turn = turn
  }

  /** A failure goes to who began it; who asks meanwhile, or later, runs its own. Each try is a step of its own for the journal. */
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

  /** For one attempt: `place` is unique in the run for each layer and attempt; who asks again there has a step of its own. */
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
