import {
  defineMiddleware,
  layerOptions,
  type ModelContext,
  misconfigured,
  option,
  type ResponseInput,
  sum,
  type TurnContext,
  type TypedMiddleware,
  withState,
  writerOf,
} from '@allium/core'
import type { PhysicalCall } from '@allium/core/internal'
import { costAt, createPricing, createUnpricedWarning, type Price, type Prices } from '@allium/prices'
import { type Ledger, memoryLedger, sharedStore } from '@allium/store'
import { accountOf, type Per, remainingInWindow, type Window } from './account.ts'
import { blockOptions } from './block-options.ts'
import { estimateUsage, type TokenEstimate } from './estimate-usage.ts'
import { type BudgetCut, budgetRunOf, emitInterrupted, settleInterrupted, turnIdOfRun } from './interrupted-calls.ts'
import { startRenewal } from './renew-hold.ts'
import { resumeHold } from './resumed-hold.ts'
import { Settlements } from './settlements.ts'

export interface BudgetOptions<Name extends string = string> {
  /** The limit of an account, in USD or tokens. A function is called for each call, for tenants with different plans. */
  limit: number | ((ctx: ModelContext) => number | Promise<number>)
  /** @default 'usd' */
  unit?: 'usd' | 'tokens' | undefined
  /** The account's owner. `user` and `tenant` are read from the principal's `userId` and `tenantId`. @default 'session' */
  per?: Per | undefined
  /** When accounts reset: every `hour`, `day` or `month` of UTC, or every given number of milliseconds. @default never */
  window?: Window | undefined
  /**
   * What happens to a call that exceeds the limit: the turn is blocked, stopped or aborted, or a function answers instead. If the function
   * returns nothing, the turn is blocked. @default 'block'
   */
  onLimit?: 'block' | 'stop' | 'abort' | OnLimit | undefined
  /** The fraction of the limit, 0 to 1, from which `guard:budget` warns. @default never */
  warnAt?: number | undefined
  /** Where spending is counted. Several processes share one ledger. @default that of the agent's store, else memoryLedger() */
  ledger?: Ledger | undefined
  /** Your own prices; they override the public list. Ollama models are free unless they are listed here. */
  prices?: Prices | undefined
  /** The price of a model without a known price, in USD per million tokens. @default { input: 3, output: 15 } */
  fallbackPrice?: Price | undefined
  /**
   * Estimates the usage of a call, which is reserved while it runs. @default one token per 4 characters of input, and `maxOutputTokens` or
   * 1,024 of output
   */
  estimate?(ctx: ModelContext): TokenEstimate
  /** Returns the name of the account; replaces `per` and `window`. It must keep tenants apart. */
  account?(ctx: ModelContext): string
  /**
   * How long a call's hold lasts if its process is lost and no process opens its session again, in milliseconds. While a call
   * runs, its hold is renewed. @default 600_000
   */
  holdFor?: number | undefined
  /** The layer's name, and the prefix of its state key. @default 'guard:budget' */
  as?: Name | undefined
}

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

/** The session's spending under the budget, in its unit; with `per: 'turn'`, the turn's spending. */
export type BudgetState<Name extends string> = Record<`${Name}:spent`, number>

const readOptions = layerOptions<BudgetOptions>('guard:budget', {
  limit: option.required(option.either(option.number({ from: 0 }), option.fn), 'the room of an account'),
  unit: option.oneOf('usd', 'tokens'),
  per: option.oneOf('turn', 'session', 'user', 'tenant'),
  window: option.either(option.oneOf('hour', 'day', 'month'), option.number({ above: 0 })),
  onLimit: option.either(option.oneOf('block', 'stop', 'abort'), option.fn),
  warnAt: option.number({ from: 0, to: 1 }),
  ledger: option.object,
  prices: option.either(option.object, option.fn),
  fallbackPrice: option.shape<Price>({
    input: option.required(option.number({ from: 0 }), 'USD for a million tokens'),
    output: option.required(option.number({ from: 0 }), 'USD for a million tokens'),
    cachedInput: option.number({ from: 0 }),
    cacheWrite: option.number({ from: 0 }),
  }),
  holdFor: option.number({ above: 0 }),
  estimate: option.fn,
  account: option.fn,
})

/**
 * Ends a turn before a model call that its account cannot pay for.
 *
 * Register it anywhere. It always runs directly around the provider, so it charges each physical call, including retries and
 * fallbacks, and charges nothing for cached answers. It reserves the estimated usage before a call and settles it afterward from
 * `ctx.physicalCalls`, like `result.usage`. Concurrent turns therefore exceed the limit by one estimate at most. If the ledger
 * cannot reserve, the turn fails. A settlement that fails is retried later.
 *
 * @throws AlliumError `layer.config` for a limit that is not a number (at the call if a function returns it), or a `warnAt` outside 0 to 1
 * @example
 * agent.use(guard.budget({ limit: 1.0, per: 'tenant', window: 'day' }))
 */
export function budget<Name extends string = 'guard:budget'>(
  options: BudgetOptions<Name>,
): TypedMiddleware<BudgetState<Name>> {
  const {
    limit,
    unit = 'usd',
    per = 'session',
    window,
    onLimit = 'block',
    warnAt,
    ledger: ledgerOption,
    prices,
    fallbackPrice = { input: 3, output: 15 },
    estimate = estimateUsage,
    holdFor = 600_000,
    account,
    as = 'guard:budget' as Name,
  } = readOptions(options)
  const spentKey = `${as}:spent`
  const runKey = `${as}:run`
  const localLedger = ledgerOption === undefined ? memoryLedger() : undefined
  const pricing = unit === 'usd' ? createPricing(prices) : undefined
  const { input, output } = fallbackPrice
  const settlements = new Settlements(as)
  const warnUnpriced = createUnpricedWarning(
    as,
    `its calls are charged $${input} and $${output} for a million tokens (fallbackPrice)`,
  )

  const layer = defineMiddleware<Record<string, unknown>>({
    name: as,
    // Its work around a turn does not meter anything.
    order: { is: ['meters'], scopes: ['model'] },
    innermost: true,
    inherit: true,
    state: { [spentKey]: sum({ scope: per === 'turn' ? 'turn' : 'session' }), [runKey]: { default: '' } },
    async agent(ctx, next) {
      try {
        await next()
      } finally {
        await settlements.end(ctx.logger)
      }
    },
    async turn(ctx, next) {
      if (per === 'turn' && account === undefined) closeAtEnd(ctx)
      ctx.onEnd(() => (settlements.isEmpty ? undefined : settlements.retry()))
      const ledger = ledgerOf(ctx)
      if (ledger === localLedger || ledger.holds === undefined) return next()
      await recordRun(ctx, ledger)
      try {
        return await next()
      } finally {
        if (!settlements.isEmpty) await settlements.retry()
        // While a settlement is pending, the run stays recorded, so that its holds can be found if this process is lost.
        if (settlements.isEmpty) ctx.state[runKey] = ''
      }
    },
    async model(ctx, next) {
      await settlements.beforeCall()
      const ledger = ledgerOf(ctx)
      const request = {
        id: `${ctx.turnId}:${ctx.callIndex}:${ctx.attempt}`,
        account: account?.(ctx) ?? accountOf(as, per, ctx, window, ctx.startedAt),
        amount: await amountOf(ctx, { model: ctx.model, usage: { ...estimate(ctx), calls: 1 } }),
        limit: checkedLimit(typeof limit === 'function' ? await limit(ctx) : limit),
        ...(window !== undefined && account === undefined && { endsIn: endsIn(window, ctx) }),
        ...(ledger !== localLedger && { ttl: holdFor, run: ctx.state[runKey] as string, by: writerOf(ctx) }),
      }
      const resumedHold =
        ctx.replaying && request.run !== undefined
          ? await resumeHold(ledger, request, await ctx.isRecorded())
          : undefined
      if (resumedHold !== undefined) recordInterrupted(ctx, ctx.turnId, resumedHold.interrupted)
      const reservation = resumedHold === undefined ? await ledger.reserve(request) : resumedHold.reservation
      if (reservation === undefined && resumedHold?.isRefused !== false) return rejectCall(ctx, request)
      const { id } = reservation ?? request
      const isHeld = reservation !== undefined && ledger !== localLedger
      const stopRenewal = isHeld ? startRenewal(as, ctx, holdFor, () => ledger.reserve({ ...request, id })) : undefined
      try {
        return await next()
      } finally {
        stopRenewal?.()
        const spent = await totalAmount(ctx)
        ctx.state[spentKey] = spent
        if (reservation !== undefined) await settlements.settle({ ledger, reservation, spent }, ctx.logger)
        if (warnAt !== undefined) await warnNearLimit(ctx, request, warnAt, spent)
      }
    },
  })
  return withState<BudgetState<Name>>(layer)

  function ledgerOf(ctx: TurnContext): Ledger {
    return ledgerOption ?? ctx.find(sharedStore)?.ledger ?? (localLedger as Ledger)
  }

  /** A turn that continues past its window is still charged to it while it holds a reservation there. */
  function endsIn(window: Window, { startedAt, clock }: TurnContext): number {
    const remaining = startedAt + remainingInWindow(window, startedAt) - clock.now()
    return remaining > 0 ? remaining : holdFor
  }

  /** Closes the account of a turn that has ended. A suspended turn keeps its account. */
  function closeAtEnd(ctx: TurnContext<Record<string, unknown>>): void {
    const ledger = ledgerOf(ctx)
    if (ledger.close === undefined) return
    const name = accountOf(as, per, ctx, window, ctx.startedAt)
    ctx.onEnd(({ status }) => (status === 'suspended' ? undefined : ledger.close?.(name)))
  }

  /** Records the run in the state while it lasts. If a run is already recorded there, it was interrupted. */
  async function recordRun(ctx: TurnContext<Record<string, unknown>>, ledger: Ledger): Promise<void> {
    const interruptedRun = ctx.state[runKey] as string
    if (interruptedRun !== '') {
      await settlements.beforeCall()
      const calls = await settleInterrupted(ledger, interruptedRun)
      if (per === 'turn') emitInterrupted(ctx, { layer: as, unit, cut: turnIdOfRun(interruptedRun), calls })
      else recordInterrupted(ctx, turnIdOfRun(interruptedRun), calls)
    }
    ctx.state[runKey] = budgetRunOf(as, ctx)
  }

  function recordInterrupted(ctx: TurnContext<Record<string, unknown>>, cut: string, calls: BudgetCut['calls']): void {
    if (calls.length === 0) return
    ctx.state[spentKey] = calls.reduce((sum, { amount }) => sum + amount, 0)
    emitInterrupted(ctx, { layer: as, unit, cut, calls: calls.map(({ account, amount }) => ({ account, amount })) })
  }

  function checkedLimit(value: number): number {
    if (typeof value === 'number' && value >= 0) return value
    throw misconfigured(as, `needs limit of 0 or more, not ${value}.`)
  }

  async function totalAmount(ctx: ModelContext): Promise<number> {
    let amount = 0
    for (const call of ctx.physicalCalls) amount += await amountOf(ctx, call)
    return amount
  }

  async function amountOf({ logger }: ModelContext, { model, usage }: PhysicalCall): Promise<number> {
    if (pricing === undefined) return usage.inputTokens + usage.outputTokens
    const cost = await pricing(model, usage)
    if (cost === undefined) warnUnpriced(logger, model)
    return cost ?? costAt(fallbackPrice, usage)
  }

  /** Emitted by the call that reaches the limit, or by each of several concurrent calls that do. A failure here must not fail the call. */
  async function warnNearLimit(
    ctx: ModelContext,
    { account, limit }: AccountLimit,
    fraction: number,
    added: number,
  ): Promise<void> {
    try {
      const { spent } = await ledgerOf(ctx).balance(account)
      if (spent >= fraction * limit && spent - added < fraction * limit)
        emitBudgetEvent(ctx, { account, limit, spent, refused: false })
    } catch (error) {
      ctx.logger.warn(`"${as}" could not tell how near its limit is.`, { error })
    }
  }

  function emitBudgetEvent(ctx: ModelContext, fields: AccountLimit & Pick<BudgetEvent, 'spent' | 'refused'>): void {
    ctx.emit({ type: 'guard:budget', layer: as, unit, ...fields } satisfies BudgetEvent)
  }

  async function rejectCall(ctx: ModelContext, { account, amount, limit }: AccountLimit & { amount: number }) {
    const { spent, reserved } = await ledgerOf(ctx).balance(account)
    emitBudgetEvent(ctx, { account, limit, spent, refused: true })
    const exceeded: BudgetExceeded = { account, unit, limit, spent, reserved, needed: amount }
    const answer = typeof onLimit === 'function' ? await onLimit(ctx, exceeded) : undefined
    if (answer !== undefined) return ctx.skipCall(answer)
    const reason = blockReason(as, per, exceeded)
    if (onLimit === 'abort') return ctx.abort(reason)
    if (onLimit !== 'stop') return ctx.block(reason, blockOptions('guard.budget'))
    ctx.stop(reason)
    return ctx.skipCall('')
  }
}

interface AccountLimit {
  account: string
  limit: number
}

function blockReason(name: string, per: Per, { unit, limit, spent, reserved, needed }: BudgetExceeded): string {
  const format = (amount: number) =>
    unit === 'usd' ? `$${Number(amount.toPrecision(3))}` : `${Math.round(amount)} tokens`
  const running = reserved > 0 ? `, ${format(reserved)} held by calls that run now` : ''
  const budget = `The budget "${name}" of ${format(limit)} per ${per}`
  if (spent === 0 && reserved === 0)
    return `${budget} has no room for this call: it may take ${format(needed)}. Nothing is spent yet: raise the limit, or set maxOutputTokens.`
  return `${budget} is used up: ${format(spent)} spent${running}, and this call may take ${format(needed)}.`
}
