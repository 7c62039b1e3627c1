import { Agent, type AgentStore, defineTool, type Model } from 'allium'
import { z } from 'zod'

/** Who asks. A backend knows it from its login, in both processes: the tenant is a part of what is signed. */
export const who = { id: 'ticket-7', principal: { tenantId: 'acme', userId: 'dana' } }

const refund = defineTool({
  name: 'refund',
  description: 'Pays a part of an order back.',
  schema: z.object({ orderId: z.string(), amount: z.number().positive().describe('US dollars') }),
  requireApproval: true,
  execute({ orderId, amount }) {
    console.log(`paid     $${amount}, in this process`)
    return `Refunded $${amount} of order ${orderId}.`
  },
})

/** The same in both processes: an approval holds for this version of the agent and this schema of the tool. */
export function createRefundAgent(model: Model, store: AgentStore, env = process.env) {
  const secret = env.APPROVAL_SECRET
  if (!secret) throw new Error('Set APPROVAL_SECRET to the secret that signs what waits, the same in both processes.')
  const day = 24 * 60 * 60 * 1000
  return new Agent({
    name: 'refunds',
    version: '1',
    model,
    store,
    tools: [refund],
    approvals: { secret, expiresIn: day },
  })
}
