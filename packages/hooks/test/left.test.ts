import { delay, type Middleware } from '@allium/core'
import { manualClock, type ScriptedStep } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { leaves } from '../../testing/test/late.ts'
import { from, type Lifecycle } from '../src/index.ts'
import { build, settled, tool } from './kit.ts'

const never = new AbortController().signal

/** A turn in which the first call of a scope is left after 50 ms and made again. */
async function leftOnce(
  scope: 'model' | 'tool',
  steps: ScriptedStep[],
  make: (late: () => Promise<void>) => Lifecycle,
) {
  const clock = manualClock()
  let first = true
  /** Takes 80 ms the first time. */
  const late = async () => {
    const ms = first ? 80 : 0
    first = false
    if (ms > 0) await delay(ms, clock, never)
  }
  const layer = { name: 'leaves', [scope]: leaves(50)[scope] } as Middleware
  let ran = 0
  const work = tool('work', async () => {
    const count = ++ran
    if (count === (scope === 'model' ? 1 : 2)) await delay(100, clock, never)
    return `ran ${count}`
  })
  const { agent, model } = build(steps, [layer, from(make(late))], { clock, tools: [work] })
  const run = settled(agent.run('hi'))
  for (let i = 0; i < 40; i++) await clock.advance(10)
  return { ...(await run), model }
}

const twoCalls: ScriptedStep = { toolCalls: [{ name: 'work' }, { name: 'work' }] }

describe('hooks of a call that was left while one of them ran', () => {
  it('onConfig: the call that is made again is sent what it changes', async () => {
    const { model } = await leftOnce('model', ['ok'], (late) => ({
      async onConfig({ phase }) {
        if (phase !== 'beforeModel') return
        await late()
        return { temperature: 0.5 }
      },
    }))
    expect(model.requests[0]?.settings.temperature).toBe(0.5)
  })

  it('onUsage: the phase of the tools is that of the answer that was taken', async () => {
    const phases: number[] = []
    await leftOnce('model', [twoCalls, { toolCalls: [{ name: 'work' }] }, 'ok'], (late) => ({
      onUsage: late,
      onToolPhaseComplete: (_, { calls }) => void phases.push(calls.length),
    }))
    expect(phases).toEqual([1])
  })

  it('onAfterToolCall: the phase is complete with the result of the call that was made again', async () => {
    const phases: unknown[] = []
    const { result } = await leftOnce('tool', [{ toolCalls: [{ name: 'work' }] }, 'ok'], (late) => ({
      onAfterToolCall: late,
      onToolPhaseComplete: (_, { calls }) => void phases.push(calls.map(({ result }) => result.content)),
    }))
    expect([result?.status, phases]).toEqual(['completed', [['ran 2']]])
  })

  it('onAfterToolCall: what it throws then fails nothing', async () => {
    let thrown = false
    const { result } = await leftOnce('tool', [{ toolCalls: [{ name: 'work' }] }, 'ok'], (late) => ({
      async onAfterToolCall() {
        if (thrown) return
        thrown = true
        await late()
        throw new Error('too late')
      },
    }))
    expect(result?.text).toBe('ok')
  })
})
