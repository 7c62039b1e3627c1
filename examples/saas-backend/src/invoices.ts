import { readFileSync } from 'node:fs'
import type { KeyValue } from 'allium'
import { z } from 'zod'
import { openPaidBack } from './paid-back.ts'

const Invoice = z.object({
  id: z.string(),
  orderId: z.string(),
  date: z.iso.date(),
  lines: z.array(z.object({ text: z.string(), amount: z.number() })),
  total: z.number(),
  paid: z.string(),
})
type Invoice = z.infer<typeof Invoice> & { credited: number }

/** Every method takes the tenant first, so no call can reach the invoices of another tenant. */
export interface Invoices {
  /** @param number of the invoice, or of its order */
  find(tenantId: string, number: string): Promise<Invoice | undefined>
  /** Credits part of an invoice, once for each call. Returns undefined if the rest of the invoice is smaller. */
  credit(tenantId: string, invoiceId: string, amount: number, callId: string): Promise<Invoice | undefined>
}

/** Opens the invoices of `data/invoices.json`. */
export function openInvoices(keyValue: KeyValue, file = new URL('../data/invoices.json', import.meta.url)): Invoices {
  const tenants = z.record(z.string(), z.array(Invoice)).parse(JSON.parse(readFileSync(file, 'utf8')))
  const credits = openPaidBack(keyValue, 'credits')
  const invoiceOf = (tenantId: string, number: string) =>
    tenants[tenantId]?.find(({ id, orderId }) => id === number || orderId === number)

  return {
    async find(tenantId, number) {
      const invoice = invoiceOf(tenantId, number)
      return invoice && { ...invoice, credited: await credits.total(tenantId, invoice.id) }
    },
    async credit(tenantId, invoiceId, amount, callId) {
      const invoice = invoiceOf(tenantId, invoiceId)
      const credited = invoice && (await credits.pay(tenantId, invoice.id, { amount, most: invoice.total, callId }))
      return invoice && credited !== undefined ? { ...invoice, credited } : undefined
    },
  }
}
