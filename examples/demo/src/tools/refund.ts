import { defineTool, toolResult } from 'allium'
import { z } from 'zod'
import type { Orders } from '../orders.ts'
import { Principal } from '../principal.ts'

export const RefundArgs = z.object({
  orderId: z.string(),
  amount: z.number().positive().describe('US dollars'),
})

/** Refunds an amount. The limits are in the refund policy. */
export function refund(orders: Orders) {
  return defineTool({
    name: 'refund',
    description: 'Refunds part of an order to the customer.',
    schema: RefundArgs,
    execute({ orderId, amount }, ctx) {
      const { tenantId } = Principal.parse(ctx.principal)
      const order = orders.refund(tenantId, orderId, amount)
      if (order === undefined)
        return toolResult({ content: `Order ${orderId} has less than $${amount} left to refund.`, isError: true })
      return `Refunded $${amount} of order ${orderId}. $${order.total - order.refunded} of it remains.`
    },
  })
}
