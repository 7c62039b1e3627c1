import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOpenAI } from '@ai-sdk/openai'
import type { AnyMiddleware, ModelRef } from 'allium'
import * as guard from 'allium/guard'
import * as memory from 'allium/memory'
import * as model from 'allium/model'
import { scriptedModel } from 'allium/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Agent } from '../src/index.ts'

/** A provider that tells in its answer which model it was asked for. */
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    const { model } = JSON.parse(body)
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: 'r1', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const said = model === 'judge' ? '{"score": 1, "why": "Fine."}' : `I am ${model}.`
    response.setHeader('content-type', 'text/event-stream')
    response.end(`${chunk({ role: 'assistant', content: said }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`)
  })
})
let openai: (id: string) => ReturnType<ReturnType<typeof createOpenAI>['chat']>
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  openai = createOpenAI({ apiKey: 'none', baseURL }).chat
})
afterAll(() => void server.close())

const setsModel = (other: ModelRef): AnyMiddleware => ({
  name: 'sets',
  model(ctx, next) {
    ctx.setModel(other)
    return next()
  },
})
const failing = () => scriptedModel([new Error('down'), 'My own answer.'])

describe('a model of the AI SDK is taken as it is', () => {
  it('by an agent, and its calls name provider and model', async () => {
    const agent = new Agent({ model: openai('gpt-5') })
    const asked: string[] = []
    agent.on('model:start', ({ model }) => asked.push(model))
    expect((await agent.run('Who are you?')).text).toBe('I am gpt-5.')
    expect(asked).toEqual(['openai/gpt-5'])
  })

  it('by a run', async () => {
    const { text } = await new Agent({ model: scriptedModel([]) }).run('Who are you?', { model: openai('gpt-5') })
    expect(text).toBe('I am gpt-5.')
  })

  it('from a resolver', async () => {
    const agent = new Agent({ model: 'fast', resolveModel: (ref) => openai(`${ref}-1`) })
    expect((await agent.run('Who are you?')).text).toBe('I am fast-1.')
  })

  it.each<[string, () => AnyMiddleware]>([
    ['ctx.setModel', () => setsModel(openai('other'))],
    ['model.fallback', () => model.fallback({ models: [openai('other')] })],
    ['model.route', () => model.route({ to: () => openai('other') })],
  ])('by %s', async (_, layer) => {
    const { text } = await new Agent({ model: failing() }).use(layer() as never).run('Who are you?')
    expect(text).toBe('I am other.')
  })

  it.each([
    ['as it is', () => openai('judge')],
    ['by a name that the agent resolves', () => 'judge'],
  ])('by guard.judge, %s', async (_, ref) => {
    const agent = new Agent({ model: scriptedModel(['Hello.']), resolveModel: (name) => openai(name) })
    const told: string[] = []
    agent.use(guard.judge({ model: ref(), rubric: 'Be kind.' })).on('guard:judge', ({ model }) => told.push(model))
    expect((await agent.run('Hi')).text).toBe('Hello.')
    expect(told).toEqual(['openai/judge', 'openai/judge'])
  })

  it('by memory.compact', async () => {
    const script = scriptedModel(['One.', 'Two.', 'Three.'])
    const layer = memory.compact({ trigger: { tokens: 30 }, keep: { tokens: 5 }, model: openai('small') })
    const session = new Agent({ model: script }).use(layer).session()
    for (let turn = 0; turn < 3; turn++) await session.run('A question of some words, which fills the window soon.')
    expect(JSON.stringify(script.requests.at(-1)?.messages)).toContain('I am small.')
  })
})
