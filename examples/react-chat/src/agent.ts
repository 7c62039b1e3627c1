import { Agent, defineTool } from 'allium'
import { z } from 'zod'
import { demoModel } from './model.ts'

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  schema: z.object({ order: z.number(), cents: z.number() }),
  requireApproval: true,
  execute: ({ order, cents }) => `Refunded ${cents} cents of order ${order}.`,
})

/** The agent of the page. Without a store, its sessions end with the process. */
export const agent = new Agent({ name: 'support', model: demoModel, tools: [refund] })
