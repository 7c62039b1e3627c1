import type { State } from '../../state/state-store.ts'

/** Where a turn ended: what a fork begins with. */
export interface Mark {
  readonly turnId: string
  readonly turnCount: number
  /** Messages of the history then. */
  readonly length: number
}

interface Kept extends Mark {
  /** What the turn changed. Values are told by identity: what a turn left as it was costs nothing. */
  readonly changed: Readonly<State>
}

/**
 * Where the last turns of a session ended. There are so many and no more, since a list that a reducer copies to make it
 * longer would be kept in every length that it has had.
 */
export class Marks {
  static readonly most = 100
  #kept: Kept[] = []
  /** The state at the first mark, without what its turn and later ones changed. */
  #base: Readonly<State> = none
  /** The state at the last mark. */
  #last: Readonly<State> = none

  add(mark: Mark, state: State | undefined): void {
    if (this.#kept.length === 0) this.#base = this.#last = state ?? none
    const changed = state === undefined ? none : changes(this.#last, state)
    if (changed !== none) this.#last = state as State
    this.#kept.push({ ...mark, changed })
    if (this.#kept.length > Marks.most) this.#base = { ...this.#base, ...this.#kept.shift()?.changed }
  }

  /** As they are now. */
  copy(): Marks {
    const copy = new Marks()
    copy.#kept = [...this.#kept]
    copy.#base = this.#base
    copy.#last = this.#last
    return copy
  }

  /** The mark of a turn, with the state as it was; undefined for a turn that ended longer ago, or elsewhere. */
  at(turnId: string): (Mark & { state: State }) | undefined {
    const place = this.#kept.findLastIndex((mark) => mark.turnId === turnId)
    const mark = this.#kept[place]
    if (mark === undefined) return undefined
    const { turnCount, length } = mark
    const changed = this.#kept.slice(0, place + 1).map((mark) => mark.changed)
    return { turnId, turnCount, length, state: Object.assign({}, this.#base, ...changed) }
  }
}

const none: Readonly<State> = Object.freeze({})

/** A key that is gone was no layer's, and a fork gets none of those. */
function changes(before: Readonly<State>, after: State): Readonly<State> {
  let changed: State | undefined
  for (const key of Object.keys(after))
    if (!Object.is(before[key], after[key]) || !Object.hasOwn(before, key)) (changed ??= {})[key] = after[key]
  return changed ?? none
}
