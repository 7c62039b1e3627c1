import { Agent, type AgentStore } from 'allium'
import * as guard from 'allium/guard'
import * as model from 'allium/model'
import * as observe from 'allium/observe'
import { skills } from 'allium/skills'
import * as tools from 'allium/tools'
import { canApprove } from './can-approve.ts'
import { planTools } from './layers/plan-tools.ts'
import { tenantPlan } from './layers/tenant-plan.ts'
import { openOrders } from './orders.ts'
import { Principal } from './principal.ts'
import type { Store } from './store.ts'
import { lookUpOrder } from './tools/look-up-order.ts'
import { refund } from './tools/refund.ts'

export interface SupportOptions {
  store: Store
  /** Signs the tokens of approvals. */
  secret: string
  resolveModel: Resolve
}
type Resolve = NonNullable<ConstructorParameters<typeof Agent>[0]['resolveModel']>

/** One agent for all tenants. The first layer is the outermost. */
export function createSupport({ store, secret, resolveModel }: SupportOptions) {
  const onion = observe.onion()
  const orders = openOrders(store.keyValue)
  const plan = (ctx: { principal?: unknown }) => Principal.parse(ctx.principal).plan
  const agent = new Agent({
    version: '1',
    name: 'support',
    model: 'openai/gpt-5-mini',
    resolveModel,
    instructions:
      'You are the support agent of a shop. Look up an order before you talk about it. Answer briefly, in Markdown.',
    principal: Principal,
    approvals: { secret, canApprove: canApprove },
    store: store satisfies AgentStore,
    maxSteps: 8,
  })
    .use(onion)
    .use(guard.pii({ types: ['email', 'card', 'iban'] }))
    .use(
      guard.rateLimit({
        limit: (ctx) => plan(ctx).turnsAMinute,
        window: 'minute',
        per: 'tenant',
        onLimit: (ctx, { retryAfter }) =>
          ctx.block('You have sent too many messages in the last minute. Wait a moment and try again.', {
            code: 'guard.rate_limit',
            retryAfter,
          }),
      }),
    )
    .use(observe.audit({ sink: store.audit }))
    .use(tenantPlan())
    .use(model.retry({ attempts: 3 }))
    .use(
      guard.budget({
        limit: (ctx) => plan(ctx).dailyUsd,
        per: 'tenant',
        window: 'day',
        onLimit: (ctx) =>
          ctx.block(
            `${Principal.parse(ctx.principal).tenant} has used up its budget for today. It resets at midnight UTC. Admins can see the usage on the admin page.`,
            { code: 'guard.budget' },
          ),
      }),
    )
    .use(observe.usage({ record: true }))
    .use(skills({ dir: new URL('../skills', import.meta.url) }))
    .use(tools.function(lookUpOrder(orders)))
    .use(tools.function(refund(orders)))
    .use(planTools())
  return { agent, onion }
}
