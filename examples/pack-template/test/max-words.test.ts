import { Agent, type AnyMiddleware } from '@allium/core'
import { runLayer, type ScriptedStep, scriptedModel, streamedText } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type AnswerCut, maxWords } from '../src/index.ts'

const answered = (steps: ScriptedStep, words: number) => runLayer(maxWords({ words }), { scope: 'model', steps })

describe('acme.maxWords', () => {
  it('gives the model the limit, and leaves an answer within it unchanged', async () => {
    const { requests, response, state } = await answered('One two three.', 3)
    expect(requests[0]?.messages[0]).toEqual({ role: 'system', content: 'Answer in at most 3 words.' })
    expect([response?.text, state['acme:maxWords:cut']]).toEqual(['One two three.', 0])
  })

  it('cuts a longer answer in the stream, the result and the history', async () => {
    const { events, result, history } = await answered('One two three four five.', 3)
    expect([streamedText(events), result?.text, history.at(-1)?.content]).toEqual(Array(3).fill('One two three …'))
  })

  it('counts words that come in pieces', async () => {
    const { response } = await answered({ chunks: ['On', 'e t', 'wo th', 'ree'] }, 2)
    expect(response?.text).toBe('One two …')
  })

  it('counts cut answers, and emits an event for each', async () => {
    const agent = new Agent({ model: scriptedModel(['a b c', 'a', 'a b c']) }).use(maxWords({ words: 2 }))
    const events: AnswerCut[] = []
    agent.on('acme:maxWords', (event) => events.push(event))
    const session = agent.session()
    for (const input of ['1', '2', '3']) await session.run(input)
    expect(session.state['acme:maxWords:cut']).toBe(2)
    expect(events[0]).toEqual({ type: 'acme:maxWords', layer: 'acme:maxWords', words: 2 })
  })

  it('starts again when a layer inside it calls the model again', async () => {
    const again: AnyMiddleware = { name: 'again', model: (_, next) => next().catch(() => next()) }
    const model = scriptedModel([{ text: 'a b c', error: new Error('cut') }, 'd e'])
    const { text, state } = await new Agent({ model })
      .use(maxWords({ words: 2 }))
      .use(again)
      .run('go')
    expect([text, state['acme:maxWords:cut']]).toEqual(['d e', 0])
  })

  it('leaves answers in JSON alone', async () => {
    const json: AnyMiddleware = {
      name: 'json',
      model(ctx, next) {
        ctx.responseFormat = { type: 'json' }
        return next()
      },
    }
    const model = scriptedModel(['{ "a": 1, "b": 2 }'])
    expect(
      (
        await new Agent({ model })
          .use(json)
          .use(maxWords({ words: 1 }))
          .run('go')
      ).text,
    ).toBe('{ "a": 1, "b": 2 }')
  })

  it('does not change the arguments of a tool call, and counts the next answer separately', async () => {
    const say = { name: 'say', description: 'Says', jsonSchema: {}, execute: () => 'said' }
    const asks = { text: 'Let me see', toolCalls: [{ name: 'say', args: { text: 'a b c' } }] }
    const agent = new Agent({ model: scriptedModel([asks, 'It is said.']), tools: [say] }).use(maxWords({ words: 2 }))
    const { toolCalls, text } = await agent.run('go')
    expect([toolCalls[0]?.args, text]).toEqual([{ text: 'a b c' }, 'It is …'])
  })

  it('must be outside caches, because they store whole answers', () => {
    const cache: AnyMiddleware = { name: 'cache', order: { is: ['caches'] }, model: (_, next) => next() }
    const agent = new Agent({ model: 'none' }).use(cache).use(maxWords({ words: 3 }))
    expect(agent.check()).toMatchObject([{ severity: 'error', layers: ['acme:maxWords', 'cache'] }])
  })

  it.each([0, -1, Number.NaN])('refuses %s words', (words) => {
    expect(() => maxWords({ words })).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})
