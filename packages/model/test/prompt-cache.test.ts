import { createAnthropic } from '@ai-sdk/anthropic'
import { Agent, type AgentOptions, type Message, type ModelContext } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type PromptCacheOptions, promptCache } from '../src/index.ts'

const look = { name: 'look', description: 'Looks', jsonSchema: { type: 'object' }, execute: () => 'seen' }
const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } }

/** An agent of a Claude with instructions and a tool; `marks` tells where the last request is marked, by role. */
function scene(
  options: PromptCacheOptions = {},
  {
    steps = ['ok'],
    id = 'anthropic/claude-sonnet-4-6',
    ...more
  }: { steps?: ScriptedStep[]; id?: string } & Partial<AgentOptions> = {},
) {
  const model = scriptedModel(steps, { id })
  const agent = new Agent({ model, instructions: 'Be brief.', tools: [look], ...more })
  agent.use(promptCache({ minTokens: 0, ...options }))
  const marks = () =>
    (model.requests.at(-1)?.messages ?? []).flatMap(({ role, content }, at) =>
      typeof content !== 'string' && content.some((part) => part.providerMetadata !== undefined)
        ? [`${at} ${role}`]
        : [],
    )
  return { agent, model, marks }
}

const talk = (n: number): Message[] =>
  Array.from({ length: n }, (_, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: `said ${i}` }))

describe('model.promptCache', () => {
  it('marks the end of the system prompt and of the conversation', async () => {
    const { agent, model } = scene()
    await agent.run('hi')
    expect(model.requests[0]?.messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'Be brief.', providerMetadata: mark }] },
      { role: 'user', content: [{ type: 'text', text: 'hi', providerMetadata: mark }] },
    ])
  })

  it('marks where the call before ended, too: at a tool’s result, and at the message before it', async () => {
    const { agent, marks, model } = scene({}, { steps: [{ toolCalls: [{ name: 'look' }] }, 'ok'] })
    await agent.run('hi')
    expect(marks()).toEqual(['0 system', '1 user', '3 tool'])
    expect(model.requests[1]?.messages[3]?.content).toMatchObject([{ type: 'tool-result', providerMetadata: mark }])
  })

  it('takes messages in a row as one', async () => {
    const { agent, marks } = scene()
    await agent.run([...talk(3), { role: 'user', content: 'and' }])
    expect(marks()).toEqual(['0 system', '1 user', '4 user'])
  })

  it('leaves the history as it is', async () => {
    const session = scene().agent.session()
    await session.run('hi')
    expect(session.history[0]).toMatchObject({ role: 'user', content: 'hi' })
  })

  it('asks for an hour where it is told to', async () => {
    const { agent, model } = scene({ ttl: '1h', apply: ['system'] })
    await agent.run('hi')
    expect(model.requests[0]?.messages[0]?.content).toMatchObject([
      { providerMetadata: { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } } },
    ])
  })

  it.each<[PromptCacheOptions['apply'], string[]]>([
    [['system'], ['0 system']],
    [['messages'], ['1 user', '3 user']],
  ])('marks only what %j names', async (apply, expected) => {
    const { agent, marks } = scene({ apply })
    await agent.run(talk(3))
    expect(marks()).toEqual(expected)
  })

  it.each(['openai/gpt-5', 'google/gemini-2.5-flash', 'acme/anthropical'])('leaves %s alone', async (id) => {
    const { agent, marks } = scene({}, { id })
    await agent.run('hi')
    expect(marks()).toEqual([])
  })

  it.each(['anthropic/claude-opus-4-6', 'openrouter/anthropic/claude-sonnet-4-6', 'vertex/claude-haiku-4-5@1'])(
    'knows %s as one of Anthropic',
    async (id) => {
      const { agent, marks } = scene({}, { id })
      await agent.run('hi')
      expect(marks()).toEqual(['0 system', '1 user'])
    },
  )

  it('asks `when` which calls are marked', async () => {
    const when = ({ model }: ModelContext) => model === 'acme/one'
    const own = scene({ when }, { id: 'acme/one' })
    await own.agent.run('hi')
    const other = scene({ when })
    await other.agent.run('hi')
    expect([own.marks(), other.marks()]).toEqual([['0 system', '1 user'], []])
  })

  it.each<[number, string[]]>([
    [1_000, []],
    [4_200, ['0 system', '1 user']],
  ])('leaves a request alone that is too short for the provider to keep: %i characters', async (length, expected) => {
    const { agent, marks } = scene({ minTokens: 1024 })
    await agent.run('x'.repeat(length))
    expect(marks()).toEqual(expected)
  })

  it('counts tools, calls and results as part of a request', async () => {
    const result = 'x'.repeat(4_200)
    const { agent, marks } = scene(
      { minTokens: 1024 },
      { steps: [{ toolCalls: [{ name: 'look' }] }, 'ok'], tools: [{ ...look, execute: () => result }] },
    )
    await agent.run('hi')
    expect(marks()).toEqual(['0 system', '1 user', '3 tool'])
  })

  it('keeps marks of the application, and never sends more than four', async () => {
    const own = { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } }
    const part = (text: string) => ({ type: 'text' as const, text, providerMetadata: own })
    const { agent, model, marks } = scene()
    await agent.run([{ role: 'user', content: [part('a'), part('b'), part('c')] }, ...talk(4).slice(1)])
    expect(marks()).toEqual(['1 user', '3 user'])
    expect(model.requests[0]?.messages[1]?.content).toEqual([part('a'), part('b'), part('c')])
  })

  it('keeps what the provider added to a part', async () => {
    const { agent, model } = scene({}, { steps: ['ok'] })
    const added = { anthropic: { citations: { enabled: true } }, other: { id: 1 } }
    const file = { type: 'file' as const, data: 'AQID', mediaType: 'application/pdf', providerMetadata: added }
    await agent.run({ role: 'user', content: [file] })
    expect(model.requests[0]?.messages[1]?.content).toEqual([
      { ...file, providerMetadata: { ...added, anthropic: { ...added.anthropic, ...mark.anthropic } } },
    ])
  })

  it('sees what is sent, wherever it is registered', async () => {
    const { agent, marks } = scene()
    agent.use('model', (ctx, next) => {
      ctx.messages = [...ctx.messages, { role: 'assistant', content: 'yes' }, { role: 'user', content: 'and now?' }]
      return next()
    })
    await agent.run('hi')
    expect(marks()).toEqual(['0 system', '1 user', '3 user'])
  })

  it('reaches the wire of Anthropic', async () => {
    const bodies: { system: unknown; messages: { content: unknown[] }[] }[] = []
    const anthropic = createAnthropic({
      apiKey: 'none',
      fetch: async (_, init) => {
        bodies.push(JSON.parse(String(init?.body)))
        return new Response('{}', { status: 400 })
      },
    })
    const call = { callId: 'c1', name: 'look' }
    const model = fromAiSdk(anthropic('claude-sonnet-4-6'))
    const agent = new Agent({ model, instructions: 'Be brief.', tools: [look] })
    agent.use(promptCache({ minTokens: 0, ttl: '1h' })).use('model', (ctx, next) => {
      ctx.addMessage({ role: 'assistant', content: [{ type: 'tool-call', ...call, args: {} }] })
      ctx.addMessage({ role: 'tool', content: [{ type: 'tool-result', ...call, content: 'seen' }] })
      return next()
    })
    await agent.run('hi').settled()
    const cache_control = { type: 'ephemeral', ttl: '1h' }
    const [asked, called, seen] = bodies[0]?.messages.map(({ content }) => content) ?? []
    expect(bodies[0]?.system).toEqual([{ type: 'text', text: 'Be brief.', cache_control }])
    expect(asked).toEqual([{ type: 'text', text: 'hi', cache_control }])
    expect(seen).toMatchObject([{ type: 'tool_result', content: 'seen', cache_control }])
    expect(JSON.stringify(called)).not.toContain('cache_control')
  })

  it.each<[PromptCacheOptions, string]>([
    [{ ttl: '10m' as '5m' }, 'not "10m".'],
    [{ minTokens: -1 }, 'not -1.'],
    [{ apply: [] }, 'needs a non-empty apply'],
  ])('refuses %j', (options, message) => {
    expect(() => promptCache(options)).toThrowError(expect.objectContaining({ code: 'layer.config' }))
    expect(() => promptCache(options)).toThrowError(message)
  })
})
