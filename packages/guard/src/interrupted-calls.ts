import { type Ledger, sessionKeyOf, type TurnContext } from '@allium/core'

/** The process of a run was lost, and what its calls held was posted as spent: by their estimates, in the budget's unit. */
export interface BudgetCut {
  type: 'guard:budget:cut'
  layer: string
  unit: 'usd' | 'tokens'
  /** The run that was cut. */
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
 * What a run's holds are found by. It stands in the session's state while the run lasts, and so in its first checkpoint, which
 * is before its first call: who takes the session over reads there what a lost process may hold.
 */
export function budgetRunOf(layer: string, ctx: TurnContext): string {
  return JSON.stringify([layer, sessionKeyOf(ctx), ctx.turnId])
}

export function turnIdOfRun(run: string): string {
  return (JSON.parse(run) as string[])[2] as string
}

/** A hold is taken right before its call, so that each one which nobody has settled counts as begun; a call that was not held costs nothing. */
export async function settleInterrupted(ledger: Ledger, run: string): Promise<BudgetCut['calls']> {
  const holds = (await ledger.holds?.(run)) ?? []
  for (const hold of holds) await ledger.settle(hold, hold.amount)
  return holds.map(({ account, amount }) => ({ account, amount }))
}

export function emitInterrupted(ctx: TurnContext, cut: Omit<BudgetCut, 'type' | 'estimated'>): void {
  if (cut.calls.length > 0) ctx.emit({ type: 'guard:budget:cut', ...cut, estimated: true } satisfies BudgetCut)
}
