import { sessionKeyOf, sum, type TurnView } from '@allium/core'
import { isReplaying } from '@allium/core/context'
import type { Ledger } from '@allium/store'
import type { LimitPolicy } from './limit-policy.ts'
import { findLostHolds, type LostHolds, listHolds } from './lost-holds.ts'
import type { Settlements } from './settlements.ts'

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

type StateContext = TurnView<Record<string, unknown>>

export type RunRecord = ReturnType<typeof runRecord>

/**
 * Keeps the amount that was spent, and the key of the run that may hold more, in the session's state. The key is in the run's first
 * checkpoint, which is before its first call. A process that takes the session over finds with it what a lost process may hold.
 */
export function runRecord({ layer, unit, per }: LimitPolicy, settlements: Settlements) {
  const spentKey = `${layer}:spent`
  const runKey = `${layer}:run`
  /** By run. The calls of sub-agents belong to the run of their parent. */
  const lost = new Map<string, LostHolds>()
  const runOf = ({ state }: StateContext) => state[runKey] as string
  return {
    state: { [spentKey]: sum({ scope: per === 'turn' ? 'turn' : 'session' }), [runKey]: { default: '' } },
    runOf,
    lostOf: (ctx: StateContext) => lost.get(runOf(ctx)),
    addSpent,
    addCut,
    recordRun,
  }

  function addSpent({ state }: StateContext, amount: number): void {
    state[spentKey] = amount
  }

  /** Counts cut calls with the amounts that they held. One event each: readers of a durable run already have those of an earlier process. */
  function addCut(ctx: StateContext, holds: BudgetCut['calls'], { cut = ctx.turnId, isSpent = true } = {}): void {
    for (const { account, amount } of holds) {
      if (isSpent) addSpent(ctx, amount)
      const calls = [{ account, amount }]
      ctx.emit({ type: 'guard:budget:cut', layer, unit, cut, calls, estimated: true } satisfies BudgetCut)
    }
  }

  /** Records the run in the state while it lasts. If a run is already recorded there, it was interrupted. */
  async function recordRun<R>(ctx: StateContext, ledger: Ledger, next: () => Promise<R>): Promise<R> {
    const interruptedRun = ctx.state[runKey] as string
    if (interruptedRun !== '') {
      // A hold is taken directly before its call, so each unsettled hold counts as a call that began.
      await settlements.beforeCall()
      const holds = await ctx.once('interrupted', () => listHolds(ledger, interruptedRun), { per: 'attempt' })
      for (const hold of holds) await ledger.settle(hold, hold.amount)
      addCut(ctx, holds, { cut: turnIdOfRun(interruptedRun), isSpent: per !== 'turn' })
    }
    const run = JSON.stringify([layer, sessionKeyOf(ctx), ctx.turnId])
    ctx.state[runKey] = run
    const lostHolds = isReplaying(ctx) ? await findLostHolds(ctx, ledger, run) : undefined
    if (lostHolds !== undefined) lost.set(run, lostHolds)
    try {
      return await next()
    } finally {
      lost.delete(run)
      await settlements.retry()
      try {
        addCut(ctx, (await lostHolds?.resolveRest(ctx)) ?? [])
        // While a settlement is pending, the run stays recorded, so that its holds can be found if this process is lost.
        if (settlements.isEmpty) ctx.state[runKey] = ''
      } catch {
        // The next run of the session posts them, because this one stays recorded.
      }
    }
  }
}

function turnIdOfRun(run: string): string {
  return (JSON.parse(run) as string[])[2] as string
}
