import { Agent, type AgentStore, defineTool, type Model } from 'allium'
import { z } from 'zod'

/** The signed-in user. A backend knows it from its sign-in, in both processes. The signature covers the tenant. */
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

/** Used by both processes. An approval is valid for this version of the agent and this schema of the tool. */
export function createRefundAgent(model: Model, store: AgentStore, env = process.env) {
  const secret = env.APPROVAL_SECRET
  if (!secret)
    throw new Error('Set APPROVAL_SECRET to the secret that signs pending calls. Both processes need the same one.')
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
