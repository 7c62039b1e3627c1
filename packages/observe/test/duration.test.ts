import { Agent, type Middleware, type Model } from '@allium/core'
import { manualClock } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { duration, type ObserveDuration } from '../src/index.ts'
import { calling, decide, scene, tool } from './scene.ts'

const none = { count: 0, total: 0, longest: 0, last: 0 }
const once = (ms: number) => ({ count: 1, total: ms, longest: ms, last: ms })

function slowScene(layers: Middleware[] = [], options: { requireApproval?: boolean } = {}) {
  const clock = manualClock()
  const answer = (reply: ReturnType<typeof calling>, ms: number) => async () => {
    await clock.advance(ms)
    return reply as string
  }
  const work = tool('work', () => clock.advance(7), options)
  const steps = [answer(calling(['work']), 10), answer('Done.', 30)]
  return scene(steps, [duration(), ...layers], { clock, tools: [work] })
}

describe('observe.duration', () => {
  it('measures turns, model calls and tool calls', async () => {
    const { state } = await slowScene().agent.run('go')
    expect(state).toEqual({
      'observe:duration:turn': once(47),
      'observe:duration:model': { count: 2, total: 40, longest: 30, last: 30 },
      'observe:duration:tool': once(7),
    })
  })

  it('tells each one to observers, and in the stream', async () => {
    const { agent } = slowScene()
    const seen: unknown[] = []
    agent.on('observe:duration', ({ scope, name, ms }) => seen.push([scope, name, ms]))
    const streamed: ObserveDuration[] = []
    for await (const event of agent.run('go')) if (event.type === 'observe:duration') streamed.push(event)
    expect(seen).toEqual([
      ['model', 'scripted/model', 10],
      ['tool', 'work', 7],
      ['model', 'scripted/model', 30],
      ['turn', undefined, 47],
    ])
    expect(streamed.map(({ scope, name, ms }) => [scope, name, ms])).toEqual(seen)
  })

  it('tells of a model call when its first chunk came, and nothing of one that sent none', async () => {
    const clock = manualClock()
    const model: Model = {
      id: 'slow',
      async *stream() {
        await clock.advance(40)
        yield { type: 'text-delta', delta: 'Hel' }
        await clock.advance(60)
        yield { type: 'text-delta', delta: 'lo' }
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 2, calls: 1 } }
      },
    }
    const seen: unknown[] = []
    const agent = new Agent({ model, clock }).use(duration())
    agent.on('observe:duration', ({ scope, ms, firstChunk }) => seen.push([scope, ms, firstChunk]))
    expect((await agent.run('go')).text).toBe('Hello')
    expect(seen).toEqual([
      ['model', 100, 40],
      ['turn', 100, undefined],
    ])
    const failing = scene([new Error('down')], [duration()], { clock })
    failing.agent.on('observe:duration', (event) => seen.push('firstChunk' in event))
    await expect(failing.agent.run('go')).rejects.toThrow('down')
    expect(seen.slice(2)).toEqual([false, false])
  })

  it('streams as if it were not there', async () => {
    const texts = async (layers: Middleware[]) => {
      const seen: string[] = []
      const { agent } = scene([{ reasoning: 'hm', chunks: ['a ', 'b ', 'c'] }], layers)
      for await (const event of agent.run('go')) if ('delta' in event) seen.push(`${event.type} ${event.delta}`)
      return seen
    }
    expect(await texts([duration()])).toEqual(await texts([]))
  })

  it('measures what fails, and throws it on as it is', async () => {
    const error = new Error('overloaded')
    const clock = manualClock()
    const fails = async () => {
      await clock.advance(5)
      return error
    }
    const { agent } = scene([fails], [duration()], { clock })
    const session = agent.session()
    await expect(session.run('go')).rejects.toBe(error)
    expect(session.state).toMatchObject({ 'observe:duration:turn': once(5), 'observe:duration:model': once(5) })
  })

  it('leaves out the time of a human: a turn that waits is one turn', async () => {
    const { agent, clock } = slowScene([], { requireApproval: true })
    const session = agent.session()
    const { state } = await session.run('go')
    expect(state).toMatchObject({ 'observe:duration:turn': once(10), 'observe:duration:tool': none })
    await clock.advance(1e6)
    expect((await decide(session, { approve: true })).state).toMatchObject({
      'observe:duration:turn': once(47),
      'observe:duration:tool': once(7),
    })
  })

  it('measures nothing where the clock fails, and lets the run through', async () => {
    const clock = { ...manualClock(), monotonic: () => expect.fail('no time') }
    const { text, state } = await scene(['hi'], [duration()], { clock }).agent.run('go')
    expect([text, state]).toEqual(['hi', expect.objectContaining({ 'observe:duration:turn': none })])
  })

  it('keeps sessions apart, and stands under another name', async () => {
    const { agent } = scene(['a', 'b'], [duration({ as: 'mine' })])
    await agent.run('1')
    expect((await agent.run('2')).state).toMatchObject({
      'mine:turn': once(0),
      'mine:model': once(0),
      'mine:tool': none,
    })
  })
})
