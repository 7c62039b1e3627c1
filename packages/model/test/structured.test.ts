import { Agent, type AnyMiddleware, type ModelChunk, textOf } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import { cache, retry, type StructuredOptions, structured } from '../src/index.ts'

const City = z.object({ city: z.string(), celsius: z.number().max(60) })
const wrong = '{"city": "Oslo", "celsius": "cold"}'
const right = '{"city": "Oslo", "celsius": -3}'
const look = { name: 'look', description: 'Looks', jsonSchema: { type: 'object' }, execute: () => 'seen' }

function scene(steps: readonly ScriptedStep[], options: Partial<StructuredOptions> = {}, more: AnyMiddleware[] = []) {
  const model = scriptedModel(steps)
  const agent = new Agent({ model, tools: [look] }).use(structured({ schema: City, ...options })).use(more)
  const told: unknown[] = []
  agent.on('model:structured', (event) => told.push(event))
  /** The last message of each request. */
  const asked = () => model.requests.map(({ messages }) => textOf(messages.at(-1) as never))
  return { agent, model, told, asked }
}

/** An answer by the tool of the strategy `tool`. */
function answered(args: string): ScriptedStep {
  return { toolCalls: [{ name: 'answer', args }] }
}

/** What a reader sees: texts, and where they are taken back. */
async function shown(run: AsyncIterable<{ type: string; delta?: unknown }>): Promise<string[]> {
  const seen: string[] = []
  for await (const { type, delta } of run)
    if (type === 'model:reset') seen.push('reset')
    else if (type === 'text-delta') seen.push(String(delta))
  return seen
}

describe('model.structured', () => {
  it('lets an answer through that fits, and says nothing', async () => {
    const { agent, model, told } = scene([right])
    expect((await agent.run('hi')).text).toBe(right)
    expect([model.calls, told]).toEqual([1, []])
  })

  it.each(['native', 'tool'] as const)(
    'reads a wrapped answer whose JSON Schema only the run has: %s',
    async (strategy) => {
      const schema = mini.array(mini.string())
      const jsonSchema = z.toJSONSchema(schema)
      const answer = '{"value":["a"]}'
      for (const options of [{ schema }, { schema, jsonSchema }]) {
        const { agent, told } = scene([strategy === 'native' ? answer : answered(answer)], options as never)
        const { output } = await agent.run('hi', { output: { schema, jsonSchema, strategy } })
        expect([output, told]).toEqual([['a'], []])
      }
    },
  )

  it('asks again with what is wrong, and the answer before', async () => {
    const { agent, model, asked, told } = scene([wrong, right])
    expect((await agent.run('hi')).text).toBe(right)
    expect(asked()[1]).toContain('celsius: Invalid input: expected number, received string. Give the whole answer')
    expect(model.requests[1]?.messages.at(-2)).toEqual({ role: 'assistant', content: wrong })
    expect(told).toMatchObject([{ attempt: 1, issues: ['celsius: Invalid input: expected number, received string'] }])
  })

  it('holds in a run that refuses to take anything back', async () => {
    const { agent } = scene([wrong, right])
    const run = agent.run('hi', { onRetryAfterOutput: 'fail' })
    expect((await shown(run)).join('')).toBe(right)
    expect((await run).text).toBe(right)
  })

  it('shows the model its last answer only', async () => {
    const { agent, model } = scene(['one', 'two', right])
    await agent.run('hi')
    expect(model.requests[2]?.messages.map((message) => textOf(message))).toEqual(['hi', 'two', expect.any(String)])
  })

  it('keeps the wrong answers out of the history, and counts their usage', async () => {
    const session = scene([wrong, wrong, right]).agent.session()
    const { usage, messages } = await session.run('hi')
    expect(session.history.map((message) => textOf(message))).toEqual(['hi', right])
    expect(messages.at(-1)?.content).toBe(right)
    expect(usage).toMatchObject({ calls: 3, inputTokens: 30 })
  })

  it('takes a wrong answer back from who has read it', async () => {
    const { agent } = scene([{ chunks: ['half'] }, { chunks: [right] }])
    expect(await shown(agent.run('hi'))).toEqual(['half', 'reset', right])
  })

  it('shows nothing before it fits, where that is asked for', async () => {
    const { agent } = scene([{ chunks: ['half'] }, { chunks: [right] }], { show: 'checked' })
    expect(await shown(agent.run('hi'))).toEqual([right])
  })

  it('fails with the issues after its attempts, and the next turn goes on', async () => {
    const { agent, model } = scene([wrong, 'no', '{"city":"Oslo","celsius":99}', right])
    const session = agent.session()
    const error = await session.run('hi').catch((error: unknown) => error)
    expect(error).toMatchObject({
      code: 'output.invalid',
      details: { attempts: 3, text: '{"city":"Oslo","celsius":99}', issues: [{ path: ['celsius'] }] },
    })
    expect([model.calls, (await session.run('again')).text]).toEqual([3, right])
  })

  it('asks no second time with one try', async () => {
    const { agent, model } = scene([wrong], { attempts: 1 })
    await expect(agent.run('hi')).rejects.toMatchObject({ code: 'output.invalid' })
    expect(model.calls).toBe(1)
  })

  it('leaves answers alone that call tools, and what came of the tools stays', async () => {
    const { agent, model } = scene([{ text: 'Let me look.', toolCalls: [{ name: 'look' }] }, wrong, right])
    const session = agent.session()
    await session.run('hi')
    expect(session.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(model.requests[2]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
  })

  it('leaves an answer alone that the provider paused: it is not whole', async () => {
    const paused: ModelChunk = { type: 'finish', reason: 'stop', paused: true, usage: {} }
    const { agent, told } = scene([{ chunks: ['I look it up.', paused] }, right])
    expect((await agent.run('hi')).text).toBe(right)
    expect(told).toEqual([])
  })

  it('takes a repair that calls a tool first', async () => {
    const { agent } = scene([wrong, { toolCalls: [{ name: 'look' }] }, right])
    const { text, toolCalls } = await agent.run('hi')
    expect([text, toolCalls.length]).toEqual([right, 1])
  })

  it.each<[string, string]>([
    ['plain', right],
    ['in a code fence', `\`\`\`json\n${right}\n\`\`\``],
  ])('takes JSON %s', async (_, text) => {
    expect((await scene([text]).agent.run('hi')).text).toBe(text)
  })

  it.each<[ScriptedStep, string]>([
    ['Sunny.', 'it is no JSON.'],
    ['', 'it is no JSON.'],
    [{ text: '{"city": "Os', finishReason: 'length' }, 'it is no JSON; it was cut at its length limit.'],
    ['null', 'Invalid input: expected object, received null.'],
  ])('tells what is wrong with %j', async (step, issues) => {
    const { agent, asked } = scene([step, right])
    await agent.run('hi')
    expect(asked()[1]).toContain(`asked for: ${issues} Give`)
  })

  it('checks the text itself where that is asked for, also with a schema that waits', async () => {
    const schema = z.string().refine(async (text) => text.includes('[1]'), 'it cites nothing')
    const { agent, asked } = scene(['So it is.', 'So it is [1].'], { schema, format: 'text' })
    expect((await agent.run('hi')).text).toBe('So it is [1].')
    expect(asked()[1]).not.toContain('JSON')
  })

  it('asks in words of one’s own', async () => {
    const { agent, asked } = scene([wrong, right], { ask: (issues, { text }) => `${issues.length} issue in ${text}` })
    await agent.run('hi')
    expect(asked()[1]).toBe(`1 issue in ${wrong}`)
  })

  it('fails the run where the schema itself does', async () => {
    const error = new Error('no database')
    const schema = z.any().refine(() => {
      throw error
    })
    await expect(scene([right], { schema }).agent.run('hi')).rejects.toBe(error)
  })

  it.each<['native' | 'tool' | 'final', ScriptedStep[]]>([
    ['native', [wrong, right]],
    ['tool', [answered(wrong), { toolCalls: [{ name: 'look' }] }, answered(right)]],
    ['final', ['It is cold.', wrong, 'It is cold.', right]],
  ])('mends the answer of a run with `output` by the strategy %s', async (strategy, steps) => {
    const model = scriptedModel(steps)
    const session = new Agent({ model, tools: [look] }).session()
    const use = [structured({ schema: City })]
    const result = await session.run('hi', { output: { schema: City, strategy }, use })
    expect(result.output).toEqual({ city: 'Oslo', celsius: -3 })
    expect(textOf(session.history.at(-1) as never)).toBe(right)
    model.done()
  })

  it.each<['native' | 'tool' | 'final', ScriptedStep[]]>([
    ['native', ['["Oslo"]', '{"value": [1]}', '{"value": ["Oslo"]}']],
    ['tool', [answered('{"value": [1]}'), answered('{"value": ["Oslo"]}')]],
    ['final', ['Oslo.', '{"value": [1]}', 'Oslo.', '{"value": ["Oslo"]}']],
  ])('mends a list of a run with `output`, which stands in { value }, by the strategy %s', async (strategy, steps) => {
    const schema = z.array(z.string())
    const model = scriptedModel(steps)
    const use = [structured({ schema })]
    const { output } = await new Agent({ model, tools: [look] }).run('hi', { output: { schema, strategy }, use })
    expect(output).toEqual(['Oslo'])
    model.done()
  })

  it('takes a list as it is where the run asks for no form', async () => {
    const { agent } = scene(['[1]', '["Oslo"]'], { schema: z.array(z.string()) })
    expect((await agent.run('hi')).text).toBe('["Oslo"]')
  })

  it('keeps sessions apart that run at once', async () => {
    const { agent } = scene(['no', 'no', right, right])
    const runs = ['acme', 'zeta'].map((tenantId) => agent.run(tenantId, { session: { principal: { tenantId } } }))
    const messages = (await Promise.all(runs)).map(({ messages }) => messages.map((message) => textOf(message)))
    expect(messages).toEqual([
      ['acme', right],
      ['zeta', right],
    ])
  })

  it('repeats a try, not all of them, with model.retry inside', async () => {
    const down = Object.assign(new Error('down'), { status: 503 })
    const { agent, model } = scene([wrong, down, right], {}, [retry({ delay: 0, jitter: 0 })])
    expect((await agent.run('hi')).text).toBe(right)
    expect(model.calls).toBe(3)
  })

  it('is not asked again by a cache outside it, which keeps the answer that fits', async () => {
    const model = scriptedModel([wrong, right])
    const agent = new Agent({ model }).use(cache()).use(structured({ schema: City }))
    const ask = async () => (await agent.run('hi', { session: { principal: { tenantId: 'acme' } } })).text
    expect([await ask(), await ask()]).toEqual([right, right])
  })

  it('asks to stand inside caches, and outside meters, which must see every try', () => {
    const layer = structured({ schema: City })
    const meter: AnyMiddleware = { name: 'meter', order: { is: ['meters'] }, model: (_, next) => next() }
    const check = (layers: AnyMiddleware[]) =>
      new Agent({ model: scriptedModel([]), orderCheck: 'off' }).use(layers).check()
    expect(check([layer, cache()])).toMatchObject([{ severity: 'error', layers: ['model:cache', layer.name] }])
    expect(check([meter, layer])).toMatchObject([{ severity: 'error', layers: [layer.name, 'meter'] }])
  })

  it.each<[Partial<StructuredOptions>, string]>([
    [{ attempts: 0 }, 'not 0.'],
    [{ attempts: 1.5 }, 'not 1.5.'],
    [{ schema: {} as never }, 'needs a Standard Schema'],
    [{ schema: undefined as never }, 'needs the option schema: a Standard Schema'],
  ])('refuses %j', (options, message) => {
    const make = () => structured({ schema: City, ...options })
    expect(make).toThrowError(expect.objectContaining({ code: 'layer.config' }))
    expect(make).toThrowError(message)
  })
})
