import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { from, type StructuredOutputConfig } from '../src/index.ts'
import { build, oneCall } from './kit.ts'

const schema = z.object({ city: z.string() })
const describeIt = {
  onStructuredOutputConfig: () => ({
    schema: { type: 'object', title: 'City' },
    description: 'A city',
    temperature: 0,
  }),
}

describe('onStructuredOutputConfig', () => {
  it('changes the form that a provider is asked for', async () => {
    const { agent, model } = build(['{"city":"Rome"}'], [from(describeIt)], { tools: [] })
    const { output } = await agent.run('Where?', { output: schema })
    expect(output).toEqual({ city: 'Rome' })
    expect(model.requests[0]).toMatchObject({
      responseFormat: { type: 'json', name: 'answer', description: 'A city', schema: { title: 'City' } },
      settings: { temperature: 0 },
    })
  })

  it('changes the tool that the model answers with, and leaves the other tools', async () => {
    const answer = { toolCalls: [{ name: 'answer', args: { city: 'Rome' } }] }
    const { agent, model } = build([...oneCall.slice(0, 1), answer], [from(describeIt)])
    const { output } = await agent.run('Where?', { output: { schema, strategy: 'tool' } })
    expect(output).toEqual({ city: 'Rome' })
    expect(model.requests[1]?.tools).toMatchObject([
      { name: 'work' },
      { name: 'answer', description: 'A city', jsonSchema: { title: 'City' } },
    ])
  })

  it('comes before the final call alone, with the strategy "final"', async () => {
    const seen: number[] = []
    const hooks = from({ onStructuredOutputConfig: (_, { messages }) => void seen.push(messages.length) })
    const { agent, model } = build(['It is Rome.', '{"city":"Rome"}'], [hooks])
    await agent.run('Where?', { output: { schema, strategy: 'final' } })
    expect([seen, model.calls]).toEqual([[3], 2])
  })

  it('is piped', async () => {
    const grow = {
      onStructuredOutputConfig: (_: unknown, { description = '' }: StructuredOutputConfig) => ({
        description: `${description}!`,
      }),
    }
    const { agent, model } = build(['{"city":"Rome"}'], [from([grow, grow])], { tools: [] })
    await agent.run('Where?', { output: schema })
    expect(model.requests[0]?.responseFormat).toMatchObject({ description: '!!' })
  })

  it('does not fire in a run without an output', async () => {
    let fired = 0
    await build(['Rome'], [from({ onStructuredOutputConfig: () => void fired++ })]).agent.run('Where?')
    expect(fired).toBe(0)
  })

  it('leaves the answer tool where a config hook hides all tools', async () => {
    const { agent, model } = build(
      [{ toolCalls: [{ name: 'answer', args: { city: 'Rome' } }] }],
      [from({ onConfig: () => ({ tools: [] }), onBeforeModel: () => ({ tools: [] }) })],
    )
    await agent.run('Where?', { output: { schema, strategy: 'tool' } })
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['answer'])
  })
})
