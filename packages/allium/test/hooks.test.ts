import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import * as hooks from '../src/hooks.ts'
import { Agent } from '../src/index.ts'

it('hooks.agent() makes an agent with the resolver and the check of raw JSON Schemas that Agent has here', async () => {
  const jsonSchema = { type: 'object', properties: { n: { type: 'number' } } }
  const work = { name: 'work', description: 'Works', jsonSchema, execute: () => 'worked' }
  const model = scriptedModel([{ toolCalls: [{ name: 'work', args: { n: 'one' } }] }, 'done'])
  const seen: boolean[] = []
  class Support {
    getTools = () => [work]
    getMiddlewares = () => [{ onAfterToolCall: (_: unknown, { ok }: hooks.ToolCallOutcome) => void seen.push(ok) }]
  }
  const agent = hooks.agent(Support, { model })
  await agent.run('hi')
  expect([agent, seen]).toEqual([expect.any(Agent), [false]])
})
