import { History } from '../../messages/history.ts'
import type { StoredTurn } from '../../ports/session-store.ts'
import type { State } from '../../state/state-store.ts'

/** The end of a turn, from which a fork can start. */
export interface Savepoint {
  readonly turnId: string
  readonly turnCount: number
  /** The length of the history at that time. */
  readonly length: number
}

/** With the state that its turn changed. Values are compared by identity, so unchanged values take no space. */
interface StateSavepoint extends Savepoint {
  readonly changed: Readonly<State>
}

/** Most savepoints of a session. */
export const maxSavepoints = 100

/**
 * The ends of a session's last turns. The number is limited: a reducer that copies a list to append to it would keep a
 * copy of every length in memory.
 */
export class Savepoints {
  /** Grows by `concat()`: with `push()` or a spread, the array would keep room for 17 items in each idle session. */
  #savepoints: StateSavepoint[] = []
  /** The state at the first savepoint, without the changes of its turn and later ones. */
  #base: Readonly<State> = none
  /** The state at the last savepoint. */
  #last: Readonly<State> = none

  add({ turnId, turnCount, length }: Savepoint, state: State | undefined): void {
    if (this.#savepoints.length === 0) this.#base = this.#last = state ?? none
    const changed = state === undefined ? none : changes(this.#last, state)
    if (changed !== none) this.#last = state as State
    this.#savepoints = this.#savepoints.concat({ turnId, turnCount, length, changed })
    if (this.#savepoints.length > maxSavepoints) this.#base = { ...this.#base, ...this.#savepoints.shift()?.changed }
  }

  /** Returns a copy, up to the savepoint of a turn if one is given. */
  copy(turnId?: string): Savepoints {
    const copy = new Savepoints()
    copy.#savepoints = this.#savepoints.slice(0, turnId === undefined ? maxSavepoints : this.#indexOf(turnId) + 1)
    copy.#base = this.#base
    copy.#last = turnId === undefined ? this.#last : (copy.at(turnId)?.state ?? this.#base)
    return copy
  }

  /** Returns the savepoint of a turn with its state. Undefined if the turn ended too long ago or in another process. */
  at(turnId: string): (Savepoint & { state: State }) | undefined {
    const index = this.#indexOf(turnId)
    const savepoint = this.#savepoints[index]
    if (savepoint === undefined) return undefined
    const { turnCount, length } = savepoint
    const changed = this.#savepoints.slice(0, index + 1).map((earlier) => earlier.changed)
    return { turnId, turnCount, length, state: Object.assign({}, this.#base, ...changed) }
  }

  #indexOf(turnId: string): number {
    return this.#savepoints.findLastIndex((savepoint) => savepoint.turnId === turnId)
  }
}

const none: Readonly<State> = Object.freeze({})

/** Returns the changed keys. A removed key was not declared by a layer, and forks do not get such keys. */
function changes(before: Readonly<State>, after: State): Readonly<State> {
  let changed: State | undefined
  for (const key of Object.keys(after))
    if (!Object.is(before[key], after[key]) || !Object.hasOwn(before, key)) (changed ??= {})[key] = after[key]
  return changed ?? none
}

/** Returns a function that restores the history to this point. Messages are replaced, never changed, so a list is enough. */
export function historyRollback(history: History): () => void {
  const { changedFrom, mayAwait } = history
  const items = history.items.slice()
  return () => {
    history.items.length = 0
    for (const message of items) history.items.push(message)
    history.changedFrom = changedFrom
    history.mayAwait = mayAwait
  }
}

/**
 * Marks the last answer of an ended run as interrupted, unless it is suspended. Returns the index of the first message
 * that the run changed.
 */
export function markInterrupted(history: History, ended: boolean): number {
  const { items, changedFrom } = history
  const last = items.findLastIndex(({ role }) => role === 'assistant')
  const answer = items[last]
  if (ended && answer !== undefined && last >= changedFrom) history.replace(last, { ...answer, interrupted: true })
  return changedFrom
}

/** Returns a run whose process was lost as an interrupted turn: its input and completed steps, with a result for every call. */
export function interruptedTurn(open: StoredTurn, endedAt: number): StoredTurn {
  const history = new History()
  history.push(open.messages)
  history.mayAwait = true
  history.closePending('Interrupted.')
  history.closeAwaited()
  history.changedFrom = 0
  markInterrupted(history, true)
  const { turnCount = 0 } = open.rest
  const rest = { ...open.rest, turnCount: turnCount + 1 }
  return { ...open, status: 'interrupted', code: 'run.interrupted', endedAt, messages: history.items, rest }
}
