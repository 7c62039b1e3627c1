import { describe, expect, it } from 'vitest'
import type { Message, Middleware, Part } from '../src/index.ts'
import { build, failure, oneCall, settled, tool } from './kit.ts'

const call = (callId: string): Part => ({ type: 'tool-call', callId, name: 'work', args: {} })
const result = (callId: string): Part => ({ type: 'tool-result', callId, name: 'work', content: 'ok' })
const asked = (...ids: string[]): Message => ({ role: 'assistant', content: ids.map(call) })
const answered = (...ids: string[]): Message => ({ role: 'tool', content: ids.map(result) })
const user: Message = { role: 'user', content: 'Go on.' }

describe('an input with tool calls', () => {
  it.each<[string, Message[], string]>([
    ['no result', [user, asked('c1'), user], 'input[1] has the tool call "c1" of "work" without its result. Give each'],
    ['no result, at its end', [user, asked('c1')], 'input[1] has the tool call "c1"'],
    ['one result of two', [asked('c1', 'c2'), answered('c2'), user], 'input[0] has the tool call "c1"'],
    ['its result before it', [answered('c1'), asked('c1'), user], 'input[0] has a result for "c1", which no earlier'],
    ['two results', [asked('c1'), answered('c1', 'c1'), user], 'input[1] has a result for "c1"'],
    ['one id twice', [asked('c1', 'c1'), answered('c1'), user], 'input[0] has a second tool call with the id "c1"'],
    ['a result without a call', [answered('c0'), user], 'input[0] has a result for "c0"'],
  ])('that have %s is refused, and nothing has changed', async (_, input, message) => {
    const { agent, model } = build(['never'])
    const session = agent.session()
    const { error } = await settled(session.run(input))
    expect(error).toMatchObject({ code: 'message.invalid', message: expect.stringContaining(message) })
    expect([session.history.length, model.calls]).toEqual([0, 0])
  })

  it('that have their results is fine, and leaves a history that can be loaded', async () => {
    const { agent } = build(['Done.', 'Again.'])
    const first = agent.session()
    await first.run([user, asked('c1', 'c2'), answered('c1'), answered('c2'), asked('c3'), answered('c3'), user])
    const second = agent.session()
    second.restore(JSON.parse(JSON.stringify(first.snapshot())))
    expect((await second.run('And?')).text).toBe('Again.')
  })
})

describe('the input and what a layer puts in its place', () => {
  it('is refused where it has the id of a tool call that stands in the history', async () => {
    const { agent } = build([...oneCall, 'more'], [], { tools: [tool('work')] })
    const session = agent.session()
    await session.run('hi')
    expect(await failure(session.run([asked('c1'), answered('c1'), user]))).toMatchObject({
      code: 'message.invalid',
      message: expect.stringContaining('"c1"'),
    })
    expect((await session.run('again')).text).toBe('more')
  })

  it('gives a later call of the model that repeats an id of it another one', async () => {
    const { agent } = build(['first', ...oneCall], [], { tools: [tool('work')] })
    const session = agent.session()
    await session.run('hi')
    expect((await session.run([asked('c1'), answered('c1'), user])).toolCalls).toMatchObject([{ callId: 'c1_2' }])
  })

  it('a layer that gives something else than messages gets an error that says what they are', async () => {
    const wrong: Middleware = {
      name: 'wrong',
      turn(ctx, next) {
        ctx.input = 'hi' as never
        return next()
      },
    }
    const { agent } = build(['done'], [wrong])
    expect(await failure(agent.run('hi'))).toMatchObject({
      code: 'layer.result',
      message: expect.stringContaining('ctx.input'),
    })
  })
})
