import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Middleware, OutputStrategy } from '../src/index.ts'
import { build, failure, read, tool } from './kit.ts'

const weather = z.object({ city: z.string(), celsius: z.number() })
const oslo = { city: 'Oslo', celsius: 4 }
const json = JSON.stringify(oslo)
const answer = (args: object | string = oslo) => ({
  toolCalls: [{ name: 'answer', args: args as Record<string, unknown> }],
})

describe('the option output', () => {
  it('asks the provider for the schema, and gives the answer as the schema makes it', async () => {
    const { agent, model } = build([json])
    const { output, text } = await agent.run('Oslo?', { output: weather })
    expect([output, text]).toEqual([oslo, json])
    expect(model.requests[0]?.responseFormat).toMatchObject({
      type: 'json',
      name: 'answer',
      schema: { type: 'object' },
    })
  })

  it('has its onion compiled once, with the same layers of the run or without any', async () => {
    let wrapped = 0
    const counts: Middleware = {
      name: 'counts',
      wrapHooks({ layer, run }) {
        if (layer === undefined) wrapped++
        return run
      },
    }
    const { agent } = build(['a', answer(), answer(), answer(), answer()], [counts], { tools: [tool('look')] })
    await agent.run('hi')
    const before = wrapped
    const use: Middleware[] = [{ name: 'own', turn: (_, next) => next() }]
    for (const options of [{}, {}, { use }, { use }]) await agent.run('Oslo?', { output: weather, ...options })
    expect((wrapped - before) / before).toBe(2)
  })

  it('works with tools: the model answers through a tool, which the rest of the onion knows as text', async () => {
    const steps = [
      { text: 'Looking.', toolCalls: [{ name: 'look' }] },
      { text: 'Here:', ...answer() },
    ]
    const seen: unknown[] = []
    const watch: Middleware = {
      name: 'watch',
      async model(_, next) {
        const { text, toolCalls, finishReason } = await next()
        seen.push([text, toolCalls.length, finishReason])
        return { text, toolCalls, finishReason }
      },
    }
    const { agent, model } = build(steps, [watch], { tools: [tool('look')] })
    const session = agent.session()
    const run = session.run('Oslo?', { output: weather })
    const { shown } = await read(run)
    const { output, toolCalls } = await run
    expect([output, shown, toolCalls.map(({ name }) => name)]).toEqual([oslo, json, ['look']])
    expect(seen).toEqual([
      ['Looking.', 1, 'tool-calls'],
      [json, 0, 'stop'],
    ])
    expect(model.requests[0]).toMatchObject({ toolChoice: 'required' })
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['look', 'answer'])
    expect(session.history.at(-1)).toEqual({ role: 'assistant', content: json })
  })

  it('may run freely and put the answer into the form with one more call, counted', async () => {
    const { agent, model } = build([{ toolCalls: [{ name: 'look' }] }, 'It is 4 degrees.', json], [], {
      tools: [tool('look')],
    })
    const run = agent.run('Oslo?', { output: { schema: weather, strategy: 'final' } })
    const { all } = await read(run)
    const { output, usage } = await run
    expect([output, all, usage.calls]).toEqual([oslo, json, 3])
    expect(model.requests.map(({ tools, responseFormat }) => [tools.length, responseFormat.type])).toEqual([
      [1, 'text'],
      [1, 'text'],
      [0, 'json'],
    ])
    expect(model.requests[2]?.messages.at(-2)).toEqual({ role: 'assistant', content: 'It is 4 degrees.' })
  })

  it.each<OutputStrategy>(['native', 'tool', 'final'])(
    'takes a schema of no object with the strategy %s',
    async (strategy) => {
      const list = { value: ['a', 'b'] }
      const steps = { native: [JSON.stringify(list)], tool: [answer(list)], final: ['a, b', JSON.stringify(list)] }[
        strategy as 'tool'
      ]
      const { agent } = build(steps)
      const { output } = await agent.run('List', { output: { schema: z.array(z.string()), strategy } })
      expect(output).toEqual(['a', 'b'])
    },
  )

  it.each([
    ['text that is no JSON', 'It is cold.', 'it is not JSON'],
    ['another shape', '{"city":"Oslo"}', 'celsius: Invalid input'],
    ['nothing', '', 'it is not JSON'],
  ])('fails the run where the model gives %s: a typed error with the issues and the text', async (_, text, said) => {
    const { agent } = build([{ text }])
    const error = await failure(agent.run('Oslo?', { output: weather }))
    expect([error.code, error.details.text, error.partial.text]).toEqual(['output.invalid', text, text])
    expect(error.message).toContain(said)
  })

  it('takes JSON in a code fence, and what the schema transforms', async () => {
    const { agent } = build([`\`\`\`json\n${json}\n\`\`\``])
    const city = weather.transform(({ city }) => city.toUpperCase())
    expect((await agent.run('Oslo?', { output: { schema: city, strategy: 'native' } })).output).toBe('OSLO')
  })

  it.each([
    ['no arguments', '', '{}'],
    ['the answer twice', [oslo, { city: 'Rome', celsius: 20 }], json],
  ])('takes a model that answers with %s', async (_, args, text) => {
    const toolCalls = (Array.isArray(args) ? args : [args]).map((args) => ({ name: 'answer', args: args as string }))
    const { agent } = build([{ toolCalls }])
    const schema = z.object({ city: z.string().optional() })
    expect((await agent.run('?', { output: { schema, strategy: 'tool' } })).text).toBe(text)
  })

  it('is null in a run that does not complete', async () => {
    const stop: Middleware = {
      name: 'stop',
      async turn(ctx, next) {
        ctx.stop('enough')
        await next()
      },
    }
    const block: Middleware = { name: 'block', turn: (ctx) => ctx.block('no', { reply: 'I may not.' }) }
    expect((await build([], [stop]).agent.run('?', { output: weather })).output).toBeNull()
    expect(await build([], [block]).agent.run('?', { output: weather })).toMatchObject({
      output: null,
      text: 'I may not.',
    })
  })

  it('is given to a resumed run too', async () => {
    const steps = [{ toolCalls: [{ name: 'look', callId: 'c' }] }, answer()]
    const { agent } = build(steps, [], { tools: [tool('look', undefined, { requireApproval: true })] })
    const session = agent.session()
    expect(await session.run('?', { output: weather })).toMatchObject({ status: 'suspended', output: null })
    const { output } = await session.resume({ c: { approve: true } }, { output: weather })
    expect(output?.celsius).toBe(4)
  })

  it('streams with a redacting layer around it: what is parsed is what was shown', async () => {
    const redact: Middleware = {
      name: 'redact',
      model(ctx, next) {
        ctx.pipe(async function* (chunks) {
          let text = ''
          for await (const chunk of chunks) {
            if (chunk.type === 'text-delta') text += chunk.delta
            else yield chunk
          }
          yield { type: 'text-delta', delta: text.replace('Oslo', '****') }
        })
        return next()
      },
    }
    const { agent } = build([answer()], [redact])
    const run = agent.run('?', { output: { schema: weather, strategy: 'tool' } })
    const { all } = await read(run)
    expect([all, (await run).output?.city]).toEqual([json.replace('Oslo', '****'), '****'])
  })

  it.each([[{}], ['json'], [{ schema: 1 }], [{ schema: weather, strategy: 'best' }], [null]])(
    'refuses %j, before anything runs',
    async (output) => {
      const { agent, model } = build([json])
      const error = await failure(agent.run('?', { output: output as never }))
      expect([error.code, model.calls]).toEqual(['run.options', 0])
    },
  )
})
