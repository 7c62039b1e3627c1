import { readFileSync } from 'node:fs'
import { z } from 'zod'

const Order = z.object({
  id: z.string(),
  items: z.array(z.object({ name: z.string(), quantity: z.number(), price: z.number() })),
  total: z.number(),
  status: z.enum(['in transit', 'delivered']),
  date: z.iso.date(),
})
type Order = z.infer<typeof Order> & { refunded: number }

/** Every method takes the tenant first, so no call can reach the orders of another tenant. */
export interface Orders {
  find(tenantId: string, orderId: string): Order | undefined
  /** Refunds part of an order. Returns undefined if the rest of the order is smaller. */
  refund(tenantId: string, orderId: string, amount: number): Order | undefined
}

/** Opens the orders of `data/orders.json`. Refunds stay in memory, so the next run starts with the original orders. */
export function openOrders(file = new URL('../data/orders.json', import.meta.url)): Orders {
  const tenants = z.record(z.string(), z.array(Order)).parse(JSON.parse(readFileSync(file, 'utf8')))
  const orders = new Map<string, Order>()
  for (const [tenantId, list] of Object.entries(tenants))
    for (const order of list) orders.set(keyOf(tenantId, order.id), { ...order, refunded: 0 })

  const find = (tenantId: string, orderId: string) => orders.get(keyOf(tenantId, orderId))
  return {
    find,
    refund(tenantId, orderId, amount) {
      const order = find(tenantId, orderId)
      if (order === undefined || order.refunded + amount > order.total) return undefined
      order.refunded += amount
      return order
    },
  }
}

/** Encoded as JSON, so that no id can collide with one of another tenant. */
function keyOf(tenantId: string, orderId: string): string {
  return JSON.stringify([tenantId, orderId])
}
