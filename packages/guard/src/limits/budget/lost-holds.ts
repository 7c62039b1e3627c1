import type { ModelContext, TurnView } from '@allium/core'
import { isRecorded } from '@allium/core/context'
import type { Ledger, Reservation } from '@allium/store'

/** The holds that earlier processes of a run left when they were lost. */
export class LostHolds {
  readonly #ledger: Ledger
  readonly #all: ReadonlyMap<string, Reservation>
  /** Those that were not posted when this process began. */
  readonly #open: ReadonlySet<string>
  readonly #counted = new Set<string>()

  constructor(ledger: Ledger, all: ReadonlyMap<string, Reservation>, open: ReadonlySet<string>) {
    this.#ledger = ledger
    this.#all = all
    this.#open = open
  }

  /** Returns the holds of a call. */
  of(call: string): Reservation[] {
    return [...this.#all.values()].filter(({ id }) => attemptOf(id, call) > 0)
  }

  /**
   * Returns the hold of a call's recorded attempt, if it still has to be posted, and posts the holds of the other attempts, which were cut.
   * The journal keeps which are which, because a later process can no longer tell. A rehearsal does not know, and posts nothing.
   */
  async resolve(ctx: ModelContext, call: string) {
    const cut: Reservation[] = []
    let recorded: Reservation | undefined
    for (const hold of this.of(call)) {
      const find = async (): Promise<boolean | undefined> => isRecorded(ctx)
      const wasRecorded = await ctx.once(`takeover/recorded:${hold.id}`, find, { per: 'attempt' })
      if (wasRecorded === undefined) continue
      if (!wasRecorded) cut.push(hold)
      else if (this.#open.has(hold.id)) recorded = hold
      this.#counted.add(hold.id)
    }
    await this.#post(cut)
    return { recorded, cut }
  }

  /** Posts and returns the holds of calls that the run did not make again. */
  async resolveRest(ctx: TurnView): Promise<readonly Reservation[]> {
    const rest = [...this.#all.values()].filter(({ id }) => !this.#counted.has(id))
    // The journal rejects the step if another process continues the run, which may still make these calls.
    if (rest.length > 0) await ctx.once('takeover/rest', () => this.#post(rest), { per: 'attempt' })
    return rest
  }

  async #post(holds: readonly Reservation[]): Promise<void> {
    for (const hold of holds) if (this.#open.has(hold.id)) await this.#ledger.settle(hold, hold.amount)
  }
}

/**
 * Lists the holds of earlier processes. Each process records what it finds, so that the next one still reports posted holds. A rehearsal
 * finds none: `takeover/` marks steps that it skips.
 */
export async function findLostHolds(ctx: TurnView, ledger: Ledger, run: string): Promise<LostHolds> {
  const all = new Map<string, Reservation>()
  let open = new Set<string>()
  for (let isLive = false; !isLive; ) {
    const list = (): Promise<readonly Reservation[] | undefined> => {
      isLive = true
      return listHolds(ledger, run)
    }
    const holds = await ctx.once('takeover/holds', list, { per: 'attempt' })
    if (holds === undefined) break
    for (const hold of holds) all.set(hold.id, hold)
    open = new Set(holds.map(({ id }) => id))
  }
  return new LostHolds(ledger, all, open)
}

export async function listHolds(ledger: Ledger, run: string): Promise<readonly Reservation[]> {
  return (await ledger.holds?.(run)) ?? []
}

/** Returns which hold of a call it is, from 1; 0 for a hold of another call. */
export function attemptOf(id: string, call: string): number {
  if (id === call) return 1
  return id.startsWith(`${call}~`) ? Number(id.slice(call.length + 1)) : 0
}
