import { defineTool, toolResult } from 'allium'
import { z } from 'zod'
import type { Orders } from '../orders.ts'
import { Principal } from '../principal.ts'

export const RefundArgs = z.object({
  orderId: z.string(),
  amount: z.number().positive().describe('US dollars'),
})

/** Pays money back. What is too much for whom is not its business: see the refund policy. */
export function refund(orders: Orders) {
  return defineTool({
    name: 'refund',
    description: 'Pays a part of an order back to the customer.',
    schema: RefundArgs,
    execute({ orderId, amount }, ctx) {
      const { tenantId } = Principal.parse(ctx.principal)
      const order = orders.refund(tenantId, orderId, amount)
      if (order === undefined)
        return toolResult({ content: `Order ${orderId} has no $${amount} left to refund.`, isError: true })
      return `Refunded $${amount} of order ${orderId}; $${order.total - order.refunded} of it remain.`
    },
  })
}
