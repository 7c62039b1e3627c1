import { Agent, type Model } from 'allium'
import * as guard from 'allium/guard'
import * as model from 'allium/model'
import * as observe from 'allium/observe'
import * as tools from 'allium/tools'
import { refundDesk } from './layers/refund-desk.ts'
import { refundPolicy } from './layers/refund-policy.ts'
import { tenantBrief } from './layers/tenant-brief.ts'
import { type Orders, openOrders } from './orders.ts'
import { Context, Principal } from './principal.ts'
import { lookUpOrder } from './tools/look-up-order.ts'
import { refund } from './tools/refund.ts'

/** The daily budget of a tenant, in USD. */
export const dailyBudget = 0.05

/** One agent for all tenants. The first layer is the outermost. */
export function createSupportAgent(answering: Model, orders: Orders = openOrders()) {
  const onion = observe.onion()
  const agent = new Agent({
    name: 'support',
    model: answering,
    instructions:
      'You are a support agent. Look up an order before you talk about it. Answer in two sentences of plain text.',
    principal: Principal,
    context: Context,
    tools: [lookUpOrder(orders)],
    maxSteps: 6,
  })
    .use(onion)
    .use(tenantBrief())
    .use(model.retry({ attempts: 3 }))
    .use(guard.budget({ limit: dailyBudget, per: 'tenant', window: 'day' }))
    .use(observe.usage())
    // Refunds are a feature of three layers: the tool, the desk and the policy.
    .use(tools.function(refund(orders)))
    .use(refundDesk())
    .use(refundPolicy({ starter: 50, business: 500 }))
  return { agent, onion }
}

type SupportAgent = ReturnType<typeof createSupportAgent>['agent']
export type SupportSession = ReturnType<SupportAgent['session']>
export type SupportRun = ReturnType<SupportAgent['run']>

/** The result of a run. The layers above give `state` its type. */
export type SupportResult = Awaited<SupportRun>
