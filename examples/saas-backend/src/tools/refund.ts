import { defineTool, toolResult } from 'allium'
import { z } from 'zod'
import type { Orders } from '../orders.ts'
import { Principal } from '../principal.ts'

/** Refunds an amount. Amounts above the plan's limit need approval. */
export function refund(orders: Orders) {
  return defineTool({
    name: 'refund',
    description: 'Refunds part of an order, and notifies the customer.',
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
        return toolResult({ content: `Order ${orderId} has less than $${amount} left to refund.`, isError: true })
      const notified = notify === undefined ? '' : ` ${notify} was notified.`
      return `Refunded $${amount} of order ${orderId}. $${order.total - order.refunded} of it remains.${notified}`
    },
  })
}
