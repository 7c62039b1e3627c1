import type { State } from '../../state/state-store.ts'

/** Where a turn ended: what a fork begins with. */
export interface Savepoint {
  readonly turnId: string
  readonly turnCount: number
  /** Messages of the history then. */
  readonly length: number
}

/** A mark with what its turn changed, and the one after it. Values are told by identity: what a turn left as it was costs nothing. */
class SavepointNode implements Savepoint {
  next: SavepointNode | undefined = undefined

  constructor(
    readonly turnId: string,
    readonly turnCount: number,
    readonly length: number,
    readonly changed: Readonly<State>,
  ) {}
}

/**
 * Where the last turns of a session ended. There are so many and no more, since a list that a reducer copies to make it
 * longer would be kept in every length that it has had.
 */
export class Savepoints {
  static readonly most = 100
  #first: SavepointNode | undefined
  #latest: SavepointNode | undefined
  #count = 0
  /** The state at the first mark, without what its turn and later ones changed. */
  #base: Readonly<State> = none
  /** The state at the last mark. */
  #last: Readonly<State> = none

  add({ turnId, turnCount, length }: Savepoint, state: State | undefined): void {
    if (this.#count === 0) this.#base = this.#last = state ?? none
    const changed = state === undefined ? none : changes(this.#last, state)
    if (changed !== none) this.#last = state as State
    this.#push(new SavepointNode(turnId, turnCount, length, changed))
    if (this.#count > Savepoints.most) this.#drop()
  }

  /** As they are now. */
  copy(): Savepoints {
    const copy = new Savepoints()
    for (const { turnId, turnCount, length, changed } of this.#all())
      copy.#push(new SavepointNode(turnId, turnCount, length, changed))
    copy.#base = this.#base
    copy.#last = this.#last
    return copy
  }

  /** Those up to a turn's. */
  until(turnId: string): Savepoints {
    const index = this.#all().findLastIndex((savepoint) => savepoint.turnId === turnId)
    const savepoints = new Savepoints()
    for (const { turnId, turnCount, length, changed } of this.#all().slice(0, index + 1))
      savepoints.#push(new SavepointNode(turnId, turnCount, length, changed))
    savepoints.#base = this.#base
    savepoints.#last = savepoints.at(turnId)?.state ?? this.#base
    return savepoints
  }

  /** The mark of a turn, with the state as it was; undefined for a turn that ended longer ago, or elsewhere. */
  at(turnId: string): (Savepoint & { state: State }) | undefined {
    const all = this.#all()
    const index = all.findLastIndex((savepoint) => savepoint.turnId === turnId)
    const savepoint = all[index]
    if (savepoint === undefined) return undefined
    const { turnCount, length } = savepoint
    const changed = all.slice(0, index + 1).map((savepoint) => savepoint.changed)
    return { turnId, turnCount, length, state: Object.assign({}, this.#base, ...changed) }
  }

  #all(): SavepointNode[] {
    const all: SavepointNode[] = []
    for (let at = this.#first; at !== undefined; at = at.next) all.push(at)
    return all
  }

  #push(savepoint: SavepointNode): void {
    if (this.#latest === undefined) this.#first = savepoint
    else this.#latest.next = savepoint
    this.#latest = savepoint
    this.#count++
  }

  #drop(): void {
    this.#base = { ...this.#base, ...this.#first?.changed }
    this.#first = this.#first?.next
    this.#count--
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
