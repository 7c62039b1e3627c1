import { Agent, type AgentStore } from 'allium'
import { agentGroup, handoff } from 'allium/group'
import * as observe from 'allium/observe'
import { skills } from 'allium/skills'
import * as tools from 'allium/tools'
import { canApprove } from './can-approve.ts'
import { openInvoices } from './invoices.ts'
import { planTools } from './layers/plan-tools.ts'
import { sharedLayers } from './layers/shared-layers.ts'
import { openOrders } from './orders.ts'
import { Principal } from './principal.ts'
import type { Store } from './store.ts'
import { creditInvoice } from './tools/credit-invoice.ts'
import { lookUpInvoice } from './tools/look-up-invoice.ts'
import { lookUpOrder } from './tools/look-up-order.ts'
import { refund } from './tools/refund.ts'

export interface SupportOptions {
  store: Store
  /** Signs the tokens of approvals. */
  secret: string
  resolveModel: Resolve
}
type Resolve = NonNullable<ConstructorParameters<typeof Agent>[0]['resolveModel']>

/** Two agents for all tenants, as one group: support answers first, and hands questions about invoices off to billing. */
export function createSupport({ store, secret, resolveModel }: SupportOptions) {
  const onion = observe.onion()
  const [orders, invoices] = [openOrders(store.keyValue), openInvoices(store.keyValue)]
  const shared = {
    version: '1',
    sessionGroup: 'support',
    model: 'openai/gpt-5-mini',
    resolveModel,
    principal: Principal,
    approvals: { secret, canApprove },
    store: store satisfies AgentStore,
    maxSteps: 8,
  } as const
  const support = new Agent({
    ...shared,
    name: 'support',
    instructions:
      'You are the support agent of a shop. Look up an order before you talk about it. Answer briefly, in Markdown. You see no invoices: hand questions about invoices, charges and payments off to billing, without an answer.',
  })
    .use(sharedLayers(store, onion))
    .use(skills({ dir: new URL('../skills', import.meta.url) }))
    .use(tools.function(lookUpOrder(orders)))
    .use(tools.function(refund(orders)))
  const billing = new Agent({
    ...shared,
    name: 'billing',
    instructions:
      'You are the billing specialist of a shop, and continue a conversation of its support agent. Look up an invoice before you talk about it. Answer briefly, in Markdown. Hand questions about orders, deliveries and returns off to support, without an answer.',
  })
    .use(sharedLayers(store, onion))
    .use(tools.function(lookUpInvoice(invoices)))
    .use(tools.function(creditInvoice(invoices)))

  support
    .use(handoff({ to: () => [{ agent: billing, description: 'Invoices, charges and payments' }] }))
    .use(planTools())
  billing.use(handoff({ to: () => [{ agent: support, description: 'All other questions' }] })).use(planTools())
  const agents = [support, billing]
  return { group: agentGroup(agents), agents, onion }
}
