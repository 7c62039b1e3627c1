import { Agent, type ModelRef } from 'allium'
import * as guard from 'allium/guard'
import * as observe from 'allium/observe'
import * as tools from 'allium/tools'
import { z } from 'zod'
import { publishNote } from './tools/publish-note.ts'
import { searchArchive } from './tools/search-archive.ts'

/** The model of each agent: a large one for the lead, smaller ones for the others. */
export type Cast = Record<'lead' | 'researcher' | 'writer', ModelRef>

/** The prices of the scripted models, in USD per million tokens. */
const prices = { 'played/*': { input: 3, output: 15 } }

/** A lead that delegates to two sub-agents. Its budget and its limits apply to all three together. */
export function createNewsroom({ lead, researcher, writer }: Cast, dailyBudget = 0.05) {
  const researching = new Agent({
    name: 'researcher',
    model: researcher,
    instructions: 'Find facts in the archive, and name the page of each.',
    tools: [searchArchive],
  })
  const writing = new Agent({
    name: 'writer',
    model: writer,
    instructions: 'Write a note of two sentences and publish it.',
    tools: [publishNote],
  })

  return (
    new Agent({
      name: 'lead',
      model: lead,
      instructions:
        'Let the researcher find the facts first. Then let the writer publish them. Then report the result.',
      principal: z.object({ tenantId: z.string(), userId: z.string() }),
    })
      // Inherited: these three layers also run around every model and tool call of the sub-agents.
      .use(guard.budget({ limit: dailyBudget, per: 'tenant', window: 'day', prices }))
      .use(guard.policy({ rules: [{ tool: 'search_archive', args: { shelf: ['public'] } }] }))
      .use(observe.usage({ prices }))
      .use(tools.agent({ agent: researching, description: 'Finds facts. Give it the whole question.' }))
      .use(tools.agent({ agent: writing, description: 'Writes and publishes a note. Give it all the facts.' }))
  )
}

export type Newsroom = ReturnType<typeof createNewsroom>
