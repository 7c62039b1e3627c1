import { defineTool, toolResult } from 'allium'
import { z } from 'zod'
import type { Invoices } from '../invoices.ts'
import { Principal } from '../principal.ts'

/** Credits an amount to the card or account that paid an invoice. Amounts above the plan's limit need approval. */
export function creditInvoice(invoices: Invoices) {
  return defineTool({
    name: 'credit_invoice',
    description: 'Credits part of an invoice to the card or account that paid it.',
    schema: z.object({ invoiceId: z.string(), amount: z.number().positive().describe('US dollars') }),
    requireApproval: ({ amount }, ctx) => amount > Principal.parse(ctx.principal).plan.refundsUpTo,
    async execute({ invoiceId, amount }, ctx) {
      const { tenantId } = Principal.parse(ctx.principal)
      const invoice = await invoices.credit(tenantId, invoiceId, amount, `${ctx.sessionId}/${ctx.callId}`)
      if (invoice === undefined)
        return toolResult({ content: `Invoice ${invoiceId} has less than $${amount} left to credit.`, isError: true })
      return `Credited $${amount} of invoice ${invoiceId} to the ${invoice.paid}. $${invoice.total - invoice.credited} of it remains.`
    },
  })
}
