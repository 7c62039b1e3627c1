import { defineTool, toolResult } from 'allium'
import { z } from 'zod'
import type { Orders } from '../orders.ts'
import { Principal } from '../principal.ts'

/** Returns an order of the caller's tenant. The model chooses the order; the principal determines the tenant. */
export function lookUpOrder(orders: Orders) {
  return defineTool({
    name: 'look_up_order',
    description: 'Finds an order of this customer by its number.',
    schema: z.object({ orderId: z.string().describe('For example A-1042') }),
    execute({ orderId }, ctx) {
      const { tenantId } = Principal.parse(ctx.principal)
      return orders.find(tenantId, orderId) ?? toolResult({ content: `No order ${orderId}.`, isError: true })
    },
  })
}
