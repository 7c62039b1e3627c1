import { manualClock } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type Check, input } from '../src/index.ts'
import { calling, scene, told } from './scene.ts'

const never = () => new Promise<never>(() => {})

describe('guard.input', () => {
  it.each([
    ['nothing', undefined],
    ['true', true],
  ] as const)('lets through where the check says %s', async (_, verdict) => {
    const seen: string[] = []
    const { agent, model } = scene(['Hello.'], [input((text) => (seen.push(text) > 0 ? verdict : false))])
    expect((await agent.run('Hi')).text).toBe('Hello.')
    expect([seen, model.requests[0]?.messages.at(-1)?.content]).toEqual([['Hi'], 'Hi'])
  })

  it.each([
    [false, '"guard:input" refused the input.', ''],
    [{ block: 'Too long.' }, 'Too long.', ''],
    [{ block: 'Too long.', reply: 'Be brief, please.' }, 'Too long.', 'Be brief, please.'],
  ])('blocks where it says %j', async (verdict, reason, text) => {
    const { agent, model } = scene([], [input(async () => verdict)])
    const result = await agent.run('Hi')
    expect([result.status, result.reason, result.text, model.calls]).toEqual(['blocked', reason, text, 0])
  })

  it('puts another text in the place of all parts, which the history keeps', async () => {
    const { agent, model } = scene(['Hello.'], [input((text) => ({ replace: text.toUpperCase() }))])
    const session = agent.session()
    const image = { type: 'image', data: 'aGk=', mediaType: 'image/png' } as const
    await session.run({ role: 'user', content: [{ type: 'text', text: 'be' }, image, { type: 'text', text: 'have' }] })
    const content = [{ type: 'text', text: 'BE\nHAVE' }, image, { type: 'text', text: '' }]
    expect([session.history[0]?.content, model.requests[0]?.messages[0]?.content]).toEqual([content, content])
  })

  it('checks results of tools where it is told to', async () => {
    const check = (text: string) => (text.includes('work') ? { replace: 'Nothing.' } : true)
    const steps = [calling(['work']), 'Done.']
    const { agent } = scene(steps, [input({ check, apply: ['input', 'toolResults'] })], { tools: ['work'] })
    expect(told(await agent.run('go'))).toEqual(['Nothing.'])
    const off = scene(steps, [input(check)], { tools: ['work'] })
    expect(told(await off.agent.run('go'))).toEqual(['work 1'])
  })

  it('fails closed where the check throws or hangs', async () => {
    const throws = () => {
      throw new Error('secret')
    }
    for (const check of [throws, never])
      for (const [onError, status] of [
        ['block', 'blocked'],
        ['allow', 'completed'],
      ] as const) {
        const clock = manualClock()
        const { agent } = scene(['Hello.'], [input({ check, onError, timeout: 50, reply: 'Later, please.' })], {
          clock,
        })
        const run = agent.run('Hi')
        await clock.advance(50)
        const result = await run
        expect([result.status, result.text]).toEqual([status, status === 'blocked' ? 'Later, please.' : 'Hello.'])
        expect([result.reason?.includes('secret') ?? false, clock.pending]).toEqual([false, 0])
      }
  })

  it.each<[string, Check]>([
    ['all', (...all) => all[2] instanceof AbortSignal],
    ['a default', (_text, _ctx, signal = AbortSignal.abort()) => !signal.aborted],
    ['later', async (_text, _ctx, signal) => !signal.aborted],
  ])('gives the check a signal, however it takes its arguments: %s', async (_, check) => {
    expect((await scene(['Hello.'], [input(check)]).agent.run('Hi')).status).toBe('completed')
  })

  it('leaves a check when the run is aborted, and aborts its signal', async () => {
    const clock = manualClock()
    let signal: AbortSignal | undefined
    const layer = input((_, __, own) => {
      signal = own
      return never()
    })
    const run = scene([], [layer], { clock }).agent.run('Hi')
    await clock.advance(1)
    run.abort('gone')
    await expect(run).rejects.toMatchObject({ name: 'AbortError' })
    expect([signal?.aborted, clock.pending]).toEqual([true, 0])
  })
})
