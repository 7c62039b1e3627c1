import type { Middleware } from '@allium/core'
import { manualClock, type ScriptedStep } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { leaves, lingers, walksOut } from '../../testing/test/late.ts'
import { audit, duration, onion, tools, usage, verify } from '../src/index.ts'
import { calling, type Layer, scene, tool } from './scene.ts'

/** Runs a turn whose first model call, or tool call, is left after 50 ms and comes back 20 ms later; the next one takes 40. */
async function leftOnce(layers: readonly Layer[], outside: readonly Middleware[], scope: 'model' | 'tool') {
  const clock = manualClock()
  const later = <T>(value: T) => new Promise<T>((resolve) => clock.after(40, () => resolve(value)))
  let calls = 0
  const look = tool('look', () => (calls++ === 0 ? new Promise(() => {}) : later('found')))
  const hangs: ScriptedStep = { chunks: ['abcd'], stall: true }
  const steps = scope === 'model' ? [hangs, () => later('Done.')] : [calling(['look']), 'Done.']
  const inside = { ...lingers(20), innermost: true, [scope === 'model' ? 'tool' : 'model']: undefined } as Middleware
  const only = outside.map((layer) => ({ ...layer, [scope === 'model' ? 'tool' : 'model']: undefined }) as Middleware)
  const { agent } = scene(steps, [...only, ...layers, inside], { clock, tools: [look] })
  const run = agent.run('hi')
  for (let i = 0; i < 20; i++) await clock.advance(10)
  return { result: await run, state: (await run).state as Record<string, unknown> }
}

const ways: [string, Middleware[]][] = [
  ['at a signal', [leaves(50)]],
  ['by a throw', walksOut(50)],
]

describe.each(ways)('where a call was left %s, and another one runs while it comes back', (_, outside) => {
  it('observe.usage counts both calls, the one that was left by its estimate', async () => {
    const { state } = await leftOnce([usage()], outside, 'model')
    expect(state['observe:usage:tokens']).toEqual({ calls: 2, inputTokens: 23, outputTokens: 6, estimated: true })
  })

  it('observe.tools counts one that was cancelled and one that was not', async () => {
    const { state } = await leftOnce([tools()], outside, 'tool')
    expect(state['observe:tools:calls']).toEqual({ look: { calls: 2, errors: 0, denied: 0, cancelled: 1, time: 110 } })
  })

  it('observe.duration measures each by itself', async () => {
    const { state } = await leftOnce([duration()], outside, 'model')
    expect(state['observe:duration:model']).toEqual({ count: 2, total: 110, longest: 70, last: 40 })
  })

  it.each(['model', 'tool'] as const)(
    'observe.onion tells of a %s call who was left, and what the other gave',
    async (scope) => {
      const watch = onion()
      const passes: Middleware = { name: 'passes', model: (_, next) => next(), tool: (_, next) => next() }
      const { result } = await leftOnce([watch, passes], outside, scope)
      const text = watch.toText(result.turnId)
      const spans = JSON.stringify(watch.timeline(result.turnId))
      expect(spans).not.toContain('"running"')
      expect([text.includes('left'), text.includes('retried')]).toEqual([true, true])
    },
  )

  it.each(['model', 'tool'] as const)(
    'observe.audit keeps a beginning and an end of each %s call, in one chain',
    async (scope) => {
      const lines: string[] = []
      await leftOnce([audit({ sink: (line) => void lines.push(line) })], outside, scope)
      const records = lines.map((line) => JSON.parse(line) as { type: string; attempt?: number; status?: string })
      const about = records.filter(({ type }) => type.startsWith(`${scope}:`))
      const numbers = ['end 1', 'end 2', 'start 1', 'start 2']
      expect(about.map(({ type, attempt }) => `${type.split(':')[1]} ${attempt}`)).toEqual(
        expect.arrayContaining(numbers),
      )
      expect(await verify(lines)).toMatchObject({ ok: true })
    },
  )
})
