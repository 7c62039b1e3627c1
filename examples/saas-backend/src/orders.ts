import { readFileSync } from 'node:fs'
import type { KeyValue } from 'allium'
import { z } from 'zod'
import { openPaidBack } from './paid-back.ts'

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

/** Opens the orders of `data/orders.json`. */
export function openOrders(keyValue: KeyValue, file = new URL('../data/orders.json', import.meta.url)): Orders {
  const tenants = z.record(z.string(), z.array(Order)).parse(JSON.parse(readFileSync(file, 'utf8')))
  const refunds = openPaidBack(keyValue, 'refunds')
  const orderOf = (tenantId: string, orderId: string) => tenants[tenantId]?.find(({ id }) => id === orderId)

  return {
    async find(tenantId, orderId) {
      const order = orderOf(tenantId, orderId)
      return order && { ...order, refunded: await refunds.total(tenantId, orderId) }
    },
    async refund(tenantId, orderId, amount, callId) {
      const order = orderOf(tenantId, orderId)
      const refunded = order && (await refunds.pay(tenantId, orderId, { amount, most: order.total, callId }))
      return order && refunded !== undefined ? { ...order, refunded } : undefined
    },
  }
}
