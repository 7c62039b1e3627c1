import { Agent, defineTool, type ModelRef } from 'allium'
import * as guard from 'allium/guard'
import * as observe from 'allium/observe'
import { z } from 'zod'

const Principal = z.object({ tenantId: z.string(), userId: z.string() })

const payInvoice = defineTool({
  name: 'pay_invoice',
  description: 'Pays an invoice.',
  schema: z.object({ invoice: z.string(), amount: z.number().positive().describe('US dollars') }),
  execute: ({ invoice, amount }) => `Paid $${amount} for ${invoice}.`,
})

export interface Trail {
  /** The file for the records. */
  file: string
  /** Seals each record. Without the secret, no valid record can be written. */
  secret?: string
}

/** An agent that records every turn, model call and tool call. */
export function createPaymentsAgent(model: ModelRef, { file, secret }: Trail) {
  const sink = observe.auditFile(file)
  const audit = observe.audit(secret === undefined ? { sink } : { sink, secret })
  const onion = observe.onion()
  const agent = new Agent({ name: 'payments', model, principal: Principal, tools: [payInvoice] })
    .use(onion)
    .use(audit)
    .use(
      guard.policy({ rules: [{ tool: 'pay_invoice', args: { amount: atMost(500) }, reason: 'Over $500, two sign.' }] }),
    )

  return { agent, audit, onion, close: () => agent.dispose().then(() => sink.close()) }
}

function atMost(limit: number) {
  return (amount: unknown) => Number(amount) <= limit
}
