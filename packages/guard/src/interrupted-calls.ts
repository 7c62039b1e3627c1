import { sessionKeyOf, type TurnContext } from '@allium/core'
import type { Ledger } from '@allium/store'

/** A run's process was lost. The amounts that its calls held were posted as spent: by estimate, in the budget's unit. */
export interface BudgetCut {
  type: 'guard:budget:cut'
  layer: string
  unit: 'usd' | 'tokens'
  /** The interrupted run. */
  cut: string
  calls: readonly { account: string; amount: number }[]
  estimated: true
}

declare module '@allium/core' {
  interface AgentEvents {
    'guard:budget:cut': BudgetCut
  }
}

/**
 * Returns the key that finds a run's holds. It is in the session's state while the run lasts, and so in its first checkpoint, which
 * is before its first call. A process that takes the session over reads from it what a lost process may hold.
 */
export function budgetRunOf(layer: string, ctx: TurnContext): string {
  return JSON.stringify([layer, sessionKeyOf(ctx), ctx.turnId])
}

export function turnIdOfRun(run: string): string {
  return (JSON.parse(run) as string[])[2] as string
}

/** A hold is taken directly before its call, so each unsettled hold counts as a call that began. A call without a hold cost nothing. */
export async function settleInterrupted(ledger: Ledger, run: string): Promise<BudgetCut['calls']> {
  const holds = (await ledger.holds?.(run)) ?? []
  for (const hold of holds) await ledger.settle(hold, hold.amount)
  return holds.map(({ account, amount }) => ({ account, amount }))
}

export function emitInterrupted(ctx: TurnContext, cut: Omit<BudgetCut, 'type' | 'estimated'>): void {
  if (cut.calls.length > 0) ctx.emit({ type: 'guard:budget:cut', ...cut, estimated: true } satisfies BudgetCut)
}
