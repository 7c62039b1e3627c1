import type { ModelContext, ModelResponse } from '@allium/core'
import { physicalCallsOf } from '@allium/core/context'
import { type Ledger, sharedStore } from '@allium/store'
import { type ReserveRequest, takeHold } from './hold.ts'
import { type LimitPolicy, rejectCall, warnNearLimit } from './limit-policy.ts'
import type { Meter } from './meter.ts'
import { startRenewal } from './renew-hold.ts'
import type { RunRecord } from './run-record.ts'
import type { Settlements } from './settlements.ts'

/** A model call that is charged to an account. */
interface Charge {
  readonly policy: LimitPolicy
  readonly ledger: Ledger
  readonly request: ReserveRequest
  readonly amountOf: Meter
  readonly runs: RunRecord
  readonly settlements: Settlements
}

/** Holds the requested amount while the call runs, then settles what the call has spent. */
export async function chargeCall(
  ctx: ModelContext<Record<string, unknown>>,
  { policy, ledger, request, amountOf, runs, settlements }: Charge,
  next: () => Promise<ModelResponse>,
): Promise<ModelResponse> {
  const { reservation, isRefused, interrupted } = await takeHold(ctx, { ledger, request, lost: runs.lostOf(ctx) })
  runs.addCut(ctx, interrupted)
  if (isRefused) return rejectCall(ctx, policy, ledger, request)
  const { ttl } = request
  const stopRenewal =
    reservation === undefined || ttl === undefined
      ? undefined
      : startRenewal(policy.layer, ctx, ttl, () => ledger.reserve({ ...request, id: reservation.id }))
  let isLast = false
  try {
    const response = await next()
    isLast = response.toolCalls.length === 0
    return response
  } finally {
    stopRenewal?.()
    let spent = 0
    for (const call of physicalCallsOf(ctx)) spent += await amountOf(ctx, call)
    runs.addSpent(ctx, spent)
    if (reservation !== undefined) {
      const canWait = isLast && isStoredWith(ctx, ledger, request)
      const posted = settlements.settle({ ledger, reservation, spent, canWait }, ctx.logger)
      if (!canWait) await posted
    }
    await warnNearLimit(ctx, policy, ledger, request, spent)
  }
}

/** Returns whether the end of the turn is stored next to the ledger, which posts the settlement with it. */
function isStoredWith(ctx: ModelContext, ledger: Ledger, { by }: ReserveRequest): boolean {
  return ledger.settleSoon !== undefined && ledger === ctx.find(sharedStore)?.ledger && by?.lease !== undefined
}
