import { Reasons } from '../recorded/reasons.ts'
import type { ReplayedTurn, ReplayMode, ReplayReport } from './replayed-turn.ts'

/** Counts replayed turns. */
export class Report {
  readonly #mode: ReplayMode
  readonly #most: number
  readonly #reasons = new Reasons()
  readonly #notes = new Reasons()
  readonly #layers = new Reasons()
  readonly #turns: ReplayedTurn[] = []
  #replayed = 0
  #same = 0

  constructor(mode: ReplayMode, most: number) {
    this.#mode = mode
    this.#most = most
  }

  add(turn: ReplayedTurn): void {
    const { verdict, reason = '', notes, differences } = turn
    if (verdict === 'notReplayable') this.#reasons.add(reason)
    else this.#replayed++
    if (verdict === 'same') this.#same++
    else if (this.#turns.length < this.#most) this.#turns.push(turn)
    for (const note of notes) this.#notes.add(note)
    for (const layer of new Set(differences.map((difference) => difference.layer ?? '(no layer)')))
      this.#layers.add(layer)
  }

  /** Adds the recordings that could not be read, by reason. */
  addUnread(unread: Readonly<Record<string, number>>): void {
    for (const [reason, count] of Object.entries(unread)) this.#reasons.add(reason, count)
  }

  result(): ReplayReport {
    return {
      ...{ mode: this.#mode, replayed: this.#replayed, same: this.#same, different: this.#replayed - this.#same },
      ...{ notReplayable: this.#reasons.counts, byLayer: this.#layers.counts, notes: this.#notes.counts },
      turns: this.#turns,
    }
  }
}
