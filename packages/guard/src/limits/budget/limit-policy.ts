import type { ModelContext, ModelResponse, ResponseInput } from '@allium/core'
import type { Ledger } from '@allium/store'
import type { Per } from '../account.ts'
import { endTurn } from '../end-turn.ts'

/** Why a call was refused; amounts in the budget's unit. */
export interface BudgetExceeded {
  account: string
  unit: 'usd' | 'tokens'
  limit: number
  spent: number
  /** Reserved by calls that are running. */
  reserved: number
  /** The amount that this call would have reserved. */
  needed: number
}

/** A call was refused, or spending has reached `warnAt`; amounts in the budget's unit. */
export interface BudgetEvent {
  type: 'guard:budget'
  layer: string
  account: string
  unit: 'usd' | 'tokens'
  limit: number
  spent: number
  /** Whether a call was refused. */
  refused: boolean
}

declare module '@allium/core' {
  interface AgentEvents {
    'guard:budget': BudgetEvent
  }
}

export type OnLimit = (
  ctx: ModelContext,
  exceeded: BudgetExceeded,
) => ResponseInput | undefined | void | Promise<ResponseInput | undefined | void>

/** What happens near the limit of an account, and above it. */
export interface LimitPolicy {
  readonly layer: string
  readonly unit: 'usd' | 'tokens'
  readonly per: Per | ((ctx: ModelContext) => string)
  readonly onLimit: 'block' | 'stop' | 'abort' | OnLimit
  readonly warnAt: number | undefined
}

interface AccountLimit {
  readonly account: string
  readonly limit: number
}

/** Emitted by the call that reaches the limit, or by each of several concurrent calls that do. A failure here must not fail the call. */
export async function warnNearLimit(
  ctx: ModelContext,
  policy: LimitPolicy,
  ledger: Ledger,
  { account, limit }: AccountLimit,
  added: number,
): Promise<void> {
  if (policy.warnAt === undefined) return
  const threshold = policy.warnAt * limit
  try {
    const { spent } = await ledger.balance(account)
    if (spent >= threshold && spent - added < threshold)
      emitBudgetEvent(ctx, policy, { account, limit, spent, refused: false })
  } catch (error) {
    ctx.logger.warn(`"${policy.layer}" could not determine how close it is to its limit.`, { error })
  }
}

/** Ends the turn before a call that its account cannot pay for, or answers in its place. */
export async function rejectCall(
  ctx: ModelContext,
  policy: LimitPolicy,
  ledger: Ledger,
  { account, amount: needed, limit }: AccountLimit & { readonly amount: number },
): Promise<ModelResponse> {
  const { layer, unit, per, onLimit } = policy
  const { spent, reserved } = await ledger.balance(account)
  emitBudgetEvent(ctx, policy, { account, limit, spent, refused: true })
  const exceeded = { account, unit, limit, spent, reserved, needed }
  const reason = blockReason(layer, per, exceeded)
  if (typeof onLimit !== 'function') return endTurn(ctx, onLimit, reason, 'guard.budget')
  const answer = await onLimit(ctx, exceeded)
  return answer === undefined ? endTurn(ctx, 'block', reason, 'guard.budget') : ctx.skipCall(answer)
}

function emitBudgetEvent(
  ctx: ModelContext,
  { layer, unit }: LimitPolicy,
  fields: Pick<BudgetEvent, 'account' | 'limit' | 'spent' | 'refused'>,
): void {
  ctx.emit({ type: 'guard:budget', layer, unit, ...fields } satisfies BudgetEvent)
}

function blockReason(
  name: string,
  per: LimitPolicy['per'],
  { unit, limit, spent, reserved, needed }: BudgetExceeded,
): string {
  const format = (amount: number) =>
    unit === 'usd' ? `$${Number(amount.toPrecision(3))}` : `${Math.round(amount)} tokens`
  const running = reserved > 0 ? `, ${format(reserved)} held by calls that run now` : ''
  const budget = `The budget "${name}" of ${format(limit)} per ${typeof per === 'function' ? 'account' : per}`
  if (spent === 0 && reserved === 0)
    return `${budget} has no room for this call: it may take ${format(needed)}. Nothing is spent yet: raise the limit, or set maxOutputTokens.`
  const state = spent < limit ? 'has too little left' : 'is used up'
  return `${budget} ${state}: ${format(spent)} spent${running}, and this call may take ${format(needed)}.`
}
