import { defineTool, toolResult } from 'allium'
import { z } from 'zod'
import type { Invoices } from '../invoices.ts'
import { Principal } from '../principal.ts'

/** Returns an invoice of the caller's tenant. The model chooses the invoice; the principal determines the tenant. */
export function lookUpInvoice(invoices: Invoices) {
  return defineTool({
    name: 'look_up_invoice',
    description: 'Finds an invoice of this customer, with its lines and how it was paid.',
    schema: z.object({ number: z.string().describe('Of the invoice, for example INV-311, or of its order') }),
    async execute({ number }, ctx) {
      const { tenantId } = Principal.parse(ctx.principal)
      return (await invoices.find(tenantId, number)) ?? toolResult({ content: `No invoice ${number}.`, isError: true })
    },
  })
}
