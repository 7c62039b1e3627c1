import type { ModelContext, TurnView } from '@allium/core'
import type { Ledger } from '@allium/store'
import { accountOwner, type Per, type Window, windowLengths } from '../account.ts'

/** Which account a call is charged to. */
interface AccountRules {
  readonly layer: string
  /** A function names the account in place of `window`, too. */
  readonly per: Per | ((ctx: ModelContext) => string)
  readonly window: Window | undefined
  /** Milliseconds. */
  readonly lease: number
}

/** Returns the id and the account of a call's reservation, and the milliseconds until the account ends. */
export function reservationOf(
  ctx: ModelContext,
  { layer, per, window, lease }: AccountRules,
): { id: string; account: string; endsIn?: number } {
  const id = `${ctx.turnId}:${ctx.callIndex}:${ctx.attempt}`
  if (typeof per === 'function') return { id, account: per(ctx) }
  const account = accountName(ctx, { layer, per, window })
  if (window === undefined) return { id, account }
  // A turn that continues past its window is still charged to it while it holds a reservation there.
  const remaining = ctx.startedAt + remainingInWindow(window, ctx.startedAt) - ctx.clock.now()
  return { id, account, endsIn: remaining > 0 ? remaining : lease }
}

/** Closes the account of a turn that has ended. A suspended turn keeps its account. */
export function closeAtEnd(ctx: TurnView, ledger: Ledger, { layer, per, window }: AccountRules): void {
  if (per !== 'turn') return
  const name = accountName(ctx, { layer, per, window })
  ctx.onEnd(({ status }) => (status === 'suspended' ? undefined : ledger.close?.(name)))
}

/**
 * Returns the name of the account, which keeps tenants apart: `["guard:budget","acme","ann","session-1"]`. It is a JSON list, so
 * that no id can pose as another part of the name.
 */
function accountName(
  ctx: TurnView,
  { layer, per, window }: Pick<AccountRules, 'layer' | 'window'> & { readonly per: Per },
): string {
  const parts = [layer, ...accountOwner(layer, per, ctx)]
  return JSON.stringify(window === undefined ? parts : [...parts, windowName(window, ctx.startedAt)])
}

function windowName(window: Window, now: number): string {
  if (typeof window === 'number') return String(Math.floor(now / window))
  return new Date(now).toISOString().slice(0, { month: 7, day: 10, hour: 13 }[window])
}

/** Returns the milliseconds until the current window ends. */
function remainingInWindow(window: Window, now: number): number {
  if (window !== 'month') {
    const length = typeof window === 'number' ? window : windowLengths[window]
    return length - (now % length)
  }
  const at = new Date(now)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1) - now
}
