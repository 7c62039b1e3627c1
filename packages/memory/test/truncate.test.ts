import { Agent, type Message } from '@allium/core'
import { historyProblems, layerConformance, runLayer, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type TruncateOptions, truncate } from '../src/index.ts'

const talk = (turns: number): Message[] =>
  Array.from({ length: turns }, (_, i): Message[] => [
    { role: 'user', content: `question ${i}` },
    { role: 'assistant', content: `answer ${i}` },
  ]).flat()

/** What the model is sent after a conversation. */
async function sent(options: TruncateOptions, history: Message[], instructions?: string) {
  const { requests, history: whole } = await runLayer(truncate(options), {
    scope: 'model',
    history,
    input: 'now',
    agentOptions: instructions === undefined ? {} : { instructions },
  })
  return { contents: requests[0]?.messages.map(({ content }) => content), messages: requests[0]?.messages ?? [], whole }
}

describe('memory.truncate', () => {
  it('sends the newest messages alone, and the history stays whole', async () => {
    const { contents, whole } = await sent({ maxMessages: 4 }, talk(5))
    expect(contents).toEqual(['question 4', 'answer 4', 'now'])
    expect(whole).toHaveLength(12)
  })

  it('sends what fits into an amount of tokens', async () => {
    const { contents } = await sent({ maxTokens: 7 }, talk(5))
    expect(contents).toEqual(['question 4', 'answer 4', 'now'])
    expect((await sent({ maxTokens: 30, countTokens: () => 10 }, talk(5))).contents).toEqual([
      'question 4',
      'answer 4',
      'now',
    ])
  })

  it('begins with a message of the user, as providers demand, however much would fit', async () => {
    for (let messages = 1; messages < 11; messages++)
      expect((await sent({ maxMessages: messages }, talk(5))).messages[0]?.role).toBe('user')
    const greeting: Message[] = [{ role: 'assistant', content: 'Can I help?' }]
    expect((await sent({ maxMessages: 2 }, greeting)).contents).toEqual(['Can I help?', 'now'])
  })

  it('leaves alone what fits', async () => {
    expect((await sent({ maxMessages: 11 }, talk(5))).contents).toHaveLength(11)
  })

  it('keeps the instructions, and system messages of the conversation, and does not count them', async () => {
    const history: Message[] = [{ role: 'system', content: 'Facts.' }, ...talk(3)]
    expect((await sent({ maxMessages: 1 }, history, 'Be brief.')).contents).toEqual(['Be brief.', 'Facts.', 'now'])
  })

  it('keeps the newest input through a long loop of tools, and no call without its result', async () => {
    const look = { name: 'look', description: 'Looks', jsonSchema: {}, execute: () => 'x'.repeat(100) }
    const steps: ScriptedStep[] = [
      ...Array.from({ length: 8 }, () => ({ toolCalls: [{ name: 'look' }, { name: 'look' }] })),
      'Done.',
    ]
    for (const options of [{ maxMessages: 5 }, { maxTokens: 130 }, { maxMessages: 1 }]) {
      const model = scriptedModel(steps)
      await new Agent({ model, tools: [look] }).use(truncate(options)).run('the question')
      for (const { messages } of model.requests) {
        expect(messages[0]).toEqual({ role: 'user', content: 'the question' })
        expect(historyProblems(messages)).toEqual([])
        if (options.maxMessages !== undefined) expect(messages.length).toBeLessThanOrEqual(options.maxMessages)
      }
    }
  })

  it.each([[{}], [{ maxMessages: 0 }], [{ maxTokens: Number.NaN }]])('refuses %j', (options) => {
    expect(() => truncate(options)).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})

layerConformance({ layer: () => truncate({ maxMessages: 20 }), describe, it, strict: true })
