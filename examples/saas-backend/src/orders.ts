import { readFileSync } from 'node:fs'
import type { KeyValue } from 'allium'
import { z } from 'zod'

const Order = z.object({
  id: z.string(),
  items: z.array(z.object({ name: z.string(), quantity: z.number(), price: z.number() })),
  total: z.number(),
  status: z.enum(['in transit', 'delivered']),
  date: z.iso.date(),
  note: z.string().optional(),
})
type Order = z.infer<typeof Order> & { refunded: number }

/** Every method takes the tenant first, so no call can reach the orders of another tenant. */
export interface Orders {
  find(tenantId: string, orderId: string): Promise<Order | undefined>
  /** Refunds part of an order, once for each call. Returns undefined if the rest of the order is smaller. */
  refund(tenantId: string, orderId: string, amount: number, callId: string): Promise<Order | undefined>
}

/** Opens the orders of `data/orders.json`. Refunds are in the store, which all processes share. */
export function openOrders(keyValue: KeyValue, file = new URL('../data/orders.json', import.meta.url)): Orders {
  const tenants = z.record(z.string(), z.array(Order)).parse(JSON.parse(readFileSync(file, 'utf8')))
  const keyOf = (tenantId: string, orderId: string) => `refunds:${JSON.stringify([tenantId, orderId])}`
  const paid = async (tenantId: string, orderId: string) =>
    ((await keyValue.get(keyOf(tenantId, orderId))) ?? {}) as Record<string, number>

  async function find(tenantId: string, orderId: string): Promise<Order | undefined> {
    const order = tenants[tenantId]?.find(({ id }) => id === orderId)
    return order && { ...order, refunded: sum(await paid(tenantId, orderId)) }
  }
  return {
    find,
    async refund(tenantId, orderId, amount, callId) {
      const order = await find(tenantId, orderId)
      if (order === undefined) return undefined
      const before = await paid(tenantId, orderId)
      if (callId in before) return order
      if (order.refunded + amount > order.total) return undefined
      await keyValue.set(keyOf(tenantId, orderId), { ...before, [callId]: amount })
      return { ...order, refunded: order.refunded + amount }
    },
  }
}

function sum(amounts: Record<string, number>): number {
  return Object.values(amounts).reduce((all, one) => all + one, 0)
}
