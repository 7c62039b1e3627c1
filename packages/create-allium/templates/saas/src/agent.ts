import { Agent, type AgentStore, defineTool, type Model } from 'allium'
import * as guard from 'allium/guard'
import * as models from 'allium/model'
import * as observe from 'allium/observe'
import { z } from 'zod'
import { Principal } from './principal.ts'

export interface AssistantOptions {
  model: Model | string
  store: AgentStore
  /** Signs approvals: the same in all processes. */
  secret: string
  /** Whether the usage of each stored run is recorded for billing. Evals store no runs. @default true */
  record?: boolean
}

const findOrder = defineTool({
  name: 'find_order',
  description: 'Finds an order by its number.',
  schema: z.object({ number: z.string() }),
  // Replace this with your database. `ctx.principal` says whose order it must be.
  execute: ({ number }) => ({ number, item: 'desk lamp', cents: 4900, delivered: true }),
})

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an amount of an order.',
  schema: z.object({ number: z.string(), cents: z.number().int().positive() }),
  requireApproval: true, // the run waits until a person decides, even across a restart
  execute: ({ number, cents }) => ({ number, refunded: cents }),
})

/** One agent serves all tenants. Layers run from the first (outermost) to the last (innermost). */
export function createAssistant({ model, store, secret, record = true }: AssistantOptions) {
  return new Agent({
    name: 'assistant',
    model,
    instructions: 'You support the customers of a shop. Look up an order before you talk about it.',
    tools: [findOrder, refund],
    principal: Principal,
    approvals: { secret },
    store,
  })
    .use(guard.rateLimit({ limit: 20, window: 'minute', per: 'user' }))
    .use(models.retry({ attempts: 3 }))
    .use(guard.budget({ limit: 5, per: 'tenant', window: 'day' })) // USD
    .use(observe.usage({ record }))
}

export type Assistant = ReturnType<typeof createAssistant>
