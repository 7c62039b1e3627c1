import {
  defineMiddleware,
  type ModelContext,
  option,
  sum,
  type TurnView,
  type TypedMiddleware,
  tenantOf,
  withState,
} from '@allium/core'
import { blockOptions } from '../rules/guard-codes.ts'
import { counted } from './counted.ts'
import { FairQueue } from './fair-queue.ts'
import { type LimitOptions, limitOptions } from './limit-options.ts'

export interface ConcurrencyOptions<Name extends string = string> extends LimitOptions<Name> {
  /** How many model calls or turns run at once in this process. */
  limit: number
  /** How many of those one tenant may use. @default all */
  perTenant?: number | undefined
  /** What takes a slot: a model call while it runs, or a whole turn. @default 'model' */
  scope?: 'model' | 'turn' | undefined
  /** How many may wait for a slot; further ones are refused. @default 100 */
  maxQueueSize?: number | undefined
  /** The longest wait for a slot, in milliseconds. @default 30_000 */
  maxWait?: number | undefined
  /** The key by which slots are shared fairly. @default the principal's tenant */
  per?(ctx: TurnView): string
}

/** A turn was refused because no slot became free. */
export interface ConcurrencyRefused {
  type: 'guard:concurrency'
  layer: string
  why: 'full' | 'late'
  running: number
  waiting: number
}

declare module '@allium/core' {
  interface AgentEvents {
    'guard:concurrency': ConcurrencyRefused
  }
}

/** How long the turn has waited for slots, in milliseconds. */
export type ConcurrencyState<Name extends string> = Record<`${Name}:waited`, number>

const readOptions = limitOptions<ConcurrencyOptions>('guard:concurrency', {
  limit: option.required(option.number({ from: 1 }), 'how many run at once'),
  perTenant: option.number({ from: 1 }),
  scope: option.oneOf('model', 'turn'),
  maxQueueSize: option.number({ from: 0 }),
  maxWait: option.number({ from: 0 }),
  per: option.fn,
})

/**
 * Limits how many model calls or turns run at once. The others wait in a queue that is fair to tenants.
 *
 * Slots go to tenants in rotation, so a tenant that sends a thousand requests does not delay the others. Register it anywhere.
 * Around model calls it always runs directly at the provider, so delays between retries and cached answers take no slot. Slots are
 * counted in this process; give the same layer to all agents that share them.
 *
 * @throws AlliumError `layer.config` for a limit below 1
 * @example
 * agent.use(guard.concurrency({ limit: 20, perTenant: 5 }))
 */
export function concurrency<Name extends string = 'guard:concurrency'>(
  options: ConcurrencyOptions<Name>,
): TypedMiddleware<ConcurrencyState<Name>> {
  const {
    limit,
    perTenant = limit,
    scope = 'model',
    maxQueueSize = 100,
    maxWait = 30_000,
    per = ({ principal }: TurnView) => tenantOf(principal) ?? '',
    as,
  } = readOptions(options)
  const slots = new FairQueue({ limit, perKey: perTenant, queue: maxQueueSize })
  const stateKey = `${as}:waited`

  const layer = defineMiddleware<Record<string, number>>({
    name: as,
    options: { limit, perTenant, scope, maxQueueSize, maxWait },
    order: { is: ['bulkheads'] },
    innermost: true,
    inherit: true,
    state: { [stateKey]: sum({ scope: 'turn', persist: false }) },
    ...(scope === 'turn'
      ? { turn: (ctx, next) => withSlot(ctx, next) }
      : { model: (ctx: ModelContext<Record<string, number>>, next) => withSlot(ctx, next) }),
  })
  return withState<ConcurrencyState<Name>>(layer)

  async function withSlot<R>(ctx: TurnView<Record<string, number>>, next: () => Promise<R>): Promise<R> {
    const release = slots.tryAcquire(per(ctx)) ?? (await waitForSlot(ctx))
    try {
      return await next()
    } finally {
      release()
    }
  }

  async function waitForSlot(ctx: TurnView<Record<string, number>>): Promise<() => void> {
    const { clock, signal } = ctx
    const startedAt = clock.monotonic()
    const outcome = await slots.acquire(per(ctx), { clock, signal, maxWait })
    ctx.state[stateKey] = clock.monotonic() - startedAt
    if (typeof outcome === 'function') return outcome
    const { running, queued: waiting } = slots
    ctx.emit({ type: 'guard:concurrency', layer: as, why: outcome, running, waiting } satisfies ConcurrencyRefused)
    const active = counted(running, scope === 'turn' ? 'running turn' : 'running model call')
    return ctx.block(
      outcome === 'full'
        ? `"${as}": the limit is reached, with ${active} and ${waiting} waiting. Try again later.`
        : `"${as}": no slot became free within ${maxWait} ms, with ${active}. Try again later.`,
      blockOptions('guard.concurrency'),
    )
  }
}
