import { defineTool, toolResult } from 'allium'
import { z } from 'zod'
import type { Orders } from '../orders.ts'
import { Principal } from '../principal.ts'

/** Pays money back. What is more than the tenant's plan allows at once waits for a person. */
export function refund(orders: Orders) {
  return defineTool({
    name: 'refund',
    description: 'Pays a part of an order back, and tells the customer so.',
    schema: z.object({
      orderId: z.string(),
      amount: z.number().positive().describe('US dollars'),
      notify: z.string().optional().describe('The address that hears of it'),
    }),
    requireApproval: ({ amount }, ctx) => amount > Principal.parse(ctx.principal).plan.refundsUpTo,
    async execute({ orderId, amount, notify }, ctx) {
      const { tenantId } = Principal.parse(ctx.principal)
      const order = await orders.refund(tenantId, orderId, amount, `${ctx.sessionId}/${ctx.callId}`)
      if (order === undefined)
        return toolResult({ content: `Order ${orderId} has no $${amount} left to refund.`, isError: true })
      const told = notify === undefined ? '' : ` ${notify} was told.`
      return `Refunded $${amount} of order ${orderId}; $${order.total - order.refunded} of it remain.${told}`
    },
  })
}
