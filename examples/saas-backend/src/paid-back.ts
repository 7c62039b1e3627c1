import type { KeyValue } from 'allium'

/** What was paid back, in USD. It is in the store, which all processes share. */
export interface PaidBack {
  /** @param of an order or an invoice of the tenant */
  total(tenantId: string, of: string): Promise<number>
  /** Pays back an amount once for each call. Returns the new total, or undefined if it would be more than `most`. */
  pay(
    tenantId: string,
    of: string,
    payment: { amount: number; most: number; callId: string },
  ): Promise<number | undefined>
}

/** @param name what is paid back, such as `refunds` */
export function openPaidBack(keyValue: KeyValue, name: string): PaidBack {
  const keyOf = (tenantId: string, of: string) => `${name}:${JSON.stringify([tenantId, of])}`
  const read = async (tenantId: string, of: string) =>
    ((await keyValue.get(keyOf(tenantId, of))) ?? {}) as Record<string, number>
  return {
    total: async (tenantId, of) => sum(await read(tenantId, of)),
    async pay(tenantId, of, { amount, most, callId }) {
      const before = await read(tenantId, of)
      const total = sum(before)
      if (callId in before) return total
      if (total + amount > most) return undefined
      await keyValue.set(keyOf(tenantId, of), { ...before, [callId]: amount })
      return total + amount
    },
  }
}

function sum(amounts: Record<string, number>): number {
  return Object.values(amounts).reduce((all, one) => all + one, 0)
}
