import type { Reservation } from '../ledger.ts'
import type { Hold } from './memory-account.ts'

/** The unsettled holds of each run. */
export class RunHolds {
  readonly #runs = new Map<string, Set<Hold>>()

  of(run: string): Reservation[] {
    return [...(this.#runs.get(run) ?? [])].map(({ reservation }) => reservation)
  }

  add(hold: Hold): void {
    if (hold.run === undefined) return
    const holds = this.#runs.get(hold.run)
    if (holds === undefined) this.#runs.set(hold.run, new Set([hold]))
    else holds.add(hold)
  }

  delete(hold: Hold): void {
    if (hold.run === undefined) return
    const holds = this.#runs.get(hold.run)
    holds?.delete(hold)
    if (holds?.size === 0) this.#runs.delete(hold.run)
  }
}
