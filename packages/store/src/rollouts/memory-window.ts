import type { Erasure } from '@allium/core'
import type { RolloutTurn } from '../rollout-store.ts'
import { type Increments, windowCounts } from './counts.ts'

/** A turn of a window. Its score is undefined until it is known. */
interface KeptTurn {
  readonly isCanary: boolean
  readonly score: number | null | undefined
}

/** The window of a user. It stays when it has closed, without its turns, so that the user does not count again. */
export class MemoryWindow {
  readonly turns = new Map<string, KeptTurn>()
  readonly closesAt: number
  isOpen = true
  readonly #tenant: string
  readonly #owner: string
  readonly #size: number

  constructor({ run: { key }, turns, windowMs }: RolloutTurn, now: number) {
    this.#tenant = key.tenant
    this.#owner = key.owner
    this.#size = turns
    this.closesAt = now + windowMs
  }

  /** Returns whether the turn belongs to the window. */
  add(name: string, isCanary: boolean): boolean {
    if (!this.isOpen || this.turns.size >= this.#size || this.turns.has(name)) return false
    this.turns.set(name, { isCanary, score: undefined })
    return true
  }

  turn(name: string): KeptTurn {
    return this.turns.get(name) as KeptTurn
  }

  /** Whether it has all its turns, and each is scored. */
  get isComplete(): boolean {
    return this.turns.size >= this.#size && [...this.turns.values()].every(({ score }) => score !== undefined)
  }

  isOf({ tenant, owner }: Erasure): boolean {
    return this.#tenant === tenant && (owner === undefined || this.#owner === owner)
  }

  /** Returns what it adds to the counts. */
  close(random: number): Increments {
    const turns = [...this.turns.values()].map(({ isCanary, score = null }) => ({ isCanary, score }))
    this.isOpen = false
    this.turns.clear()
    return windowCounts(turns, random)
  }
}
