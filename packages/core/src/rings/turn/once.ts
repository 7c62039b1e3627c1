import type { Turn } from './turn.ts'

interface Try {
  count: number
  made: Promise<unknown> | undefined
}

/** `ctx.once()`: one run of a function for each key, also over a suspension, however often it is asked for. */
export class Once {
  readonly #turn: Turn
  readonly #tries = new Map<string, Try>()

  constructor(turn: Turn) {
    this.#turn = turn
  }

  /** A failure goes to who began it; who asks meanwhile, or later, runs its own. Each try is a step of its own for the journal. */
  run<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    const { once: done } = this.#turn.session
    if (done.has(key)) return Promise.resolve(done.get(key) as T)
    const known = this.#tries.get(key) ?? { count: 0, made: undefined }
    this.#tries.set(key, known)
    if (known.made !== undefined) return (known.made as Promise<T>).catch(() => this.run(key, fn))
    const id = `${this.#turn.turnId}:once:${key}:${++known.count}`
    const made = Promise.resolve().then(() => this.#turn.journal.step(id, fn, () => {}))
    known.made = made
    made.then(
      (value) => done.set(key, value),
      () => (known.made = undefined),
    )
    return made
  }
}
