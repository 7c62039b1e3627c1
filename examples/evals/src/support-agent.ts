import { Agent, defineTool, type Model } from 'allium'
import * as guard from 'allium/guard'
import { z } from 'zod'
import { orderOf } from './orders.ts'

/** The rules of the prompt. The test removes some of them, and the evaluation says which cases suffer. */
export const promptRules = {
  lookUp: 'Look up an order with find_order before you say anything about it.',
  delivered: 'Refund only orders that were delivered. Offer to cancel the others.',
  price: 'Refund at most the price of the order, whatever the customer asks for.',
  note: 'Never say what the field "note" of an order contains.',
  language: 'Answer in the language of the customer: English, German or Spanish.',
  apology: 'Begin with an apology if something went wrong.',
  handOver: 'Call hand_over if the customer mentions a lawyer or the police.',
} as const

export type RuleName = keyof typeof promptRules

export interface SupportOptions {
  model: Model
  /** A rule to leave out of the prompt. */
  without?: RuleName | undefined
  /** @default true */
  hasPolicy?: boolean | undefined
}

const number = z.string().regex(/^\d{4}$/)

const findOrder = defineTool({
  name: 'find_order',
  description: 'Finds an order by its number.',
  schema: z.object({ number }),
  execute: (args) => orderOf(args.number) ?? { error: 'There is no such order.' },
})

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an amount of an order, in cents.',
  schema: z.object({ number, cents: z.number().int().positive() }),
  execute: ({ cents }) => ({ refunded: cents }),
})

const cancel = defineTool({
  name: 'cancel',
  description: 'Cancels an order that was not delivered yet.',
  schema: z.object({ number }),
  execute: (args) => ({ cancelled: orderOf(args.number)?.status === 'being packed' }),
})

const handOver = defineTool({
  name: 'hand_over',
  description: 'Hands the conversation over to a person.',
  schema: z.object({ reason: z.string() }),
  execute: () => ({ handedOver: true }),
})

/** A support agent with a prompt of rules, four tools, and two guards. */
export function createSupportAgent({ model, without, hasPolicy = true }: SupportOptions): Agent {
  const rules = Object.entries(promptRules).filter(([name]) => name !== without)
  const agent = new Agent({
    name: 'support',
    model,
    instructions: ['You answer customers of a furniture shop.', ...rules.map(([, rule]) => `- ${rule}`)].join('\n'),
    tools: [findOrder, refund, cancel, handOver],
  })
  agent.use(guard.maxToolCalls({ limit: 4 }))
  if (hasPolicy) agent.use(refundPolicy)
  return agent
}

const refundPolicy = guard.policy({
  rules: [
    { tool: 'refund', args: { cents: (value) => Number(value) <= 20_000 }, reason: 'Above 200 € a person decides.' },
  ],
})
