import type { ReplayReport } from '@allium/replay/replay'
import { beforeAll, describe, expect, it } from 'vitest'
import * as guard from '../../src/guard.ts'
import type { Middleware, Session } from '../../src/index.ts'
import type { ScriptedStep } from '../../src/testing.ts'
import { agentOf, dana, type Parts, replayedKind, store, tool, turnsIn } from './world.ts'

const call = (name: string, args: object, callId = 'c1'): ScriptedStep => ({
  toolCalls: [{ name, callId, args: args as never }],
})

/** Six kinds of turns, ten of each. The input names the kind. */
const kinds: Readonly<Record<string, readonly ScriptedStep[]>> = {
  answer: ['hello'],
  work: [call('work', { n: 1 }), 'done'],
  pay: [call('pay', { amount: 5 }), 'paid'],
  payMuch: [call('pay', { amount: 500 }), 'no'],
  three: [call('work', {}), call('work', {}, 'c2'), call('work', {}, 'c3'), 'done'],
  fails: [call('broken', {}), 'sorry'],
}
const [each, names] = [10, Object.keys(kinds)]

/** Doubles amounts. Its place relative to the guard decides which amount the guard sees. */
const doubles: Middleware = {
  name: 'doubles',
  tool(ctx, next) {
    if (ctx.tool.name === 'pay') ctx.modifyArgs({ amount: Number(ctx.args.amount) * 200 })
    return next()
  },
}
const smallAmounts: Middleware = {
  name: 'small-amounts',
  tool: (ctx, next) => (Number(ctx.args.amount) > 100 ? ctx.deny('too much') : next()),
}
/** Unlike `deny`, a rule for arguments leaves the tool in the requests. */
const added = guard.policy({ rules: [{ tool: 'work', args: { n: () => false } }], as: 'added' })
const cap = (limit: number) => guard.maxToolCalls({ limit })
const parts = (layers: Parts['layers'] = [smallAmounts, doubles, cap(5)], options: Parts['options'] = {}): Parts => ({
  layers: layers ?? [],
  options: {
    instructions: 'Be brief.',
    tools: [tool('work'), tool('pay'), tool('broken', { execute: () => Promise.reject(new Error('down')) })],
    ...options,
  },
})

describe('a change planted in the agent of 60 recorded turns', () => {
  const kept = store()
  let turns: Awaited<ReturnType<typeof turnsIn>> = []

  beforeAll(async () => {
    for (const name of names)
      for (let i = 0; i < each; i++) {
        const agent = agentOf(kept, kinds[name] ?? [], parts())
        await (agent.session({ id: `${name}-${i}`, principal: dana }) as Session).run(name)
        await agent.dispose()
      }
    turns = await turnsIn(kept, 'agent')
  })

  const changed = async (mode: 'pinned' | 'exact', planted: Parts, without: readonly string[] = []) =>
    replayedKind(kept, turns, { mode, parts: planted, without })
  /** The kinds of the turns that differ, with how many of each. */
  const kindsOf = ({ turns: differing }: ReplayReport) => {
    const counts: Record<string, number> = {}
    for (const { key } of differing) {
      const name = key.sessionId.replace(/-\d+$/, '')
      counts[name] = (counts[name] ?? 0) + 1
    }
    return counts
  }

  it.each(['pinned', 'exact'] as const)('%s: nothing differs in an unchanged agent', async (mode) => {
    expect(turns).toHaveLength(60)
    expect(await changed(mode, parts())).toMatchObject({ replayed: 60, same: 60 })
  })

  it.each(['pinned', 'exact'] as const)('%s: an added guard differs in the turns that it denies', async (mode) => {
    const report = await changed(mode, parts([added, smallAmounts, doubles, cap(5)]))
    expect(kindsOf(report)).toEqual({ work: 10, three: 10 })
    expect(report.byLayer).toMatchObject({ added: 20 })
  })

  it.each(['pinned', 'exact'] as const)(
    '%s: another order differs where a guard sees other arguments',
    async (mode) => {
      const report = await changed(mode, parts([doubles, smallAmounts, cap(5)]))
      expect(kindsOf(report)).toEqual({ pay: 10 })
    },
  )

  it.each(['pinned', 'exact'] as const)('%s: another option differs in the turns that reach it', async (mode) => {
    const report = await changed(mode, parts([smallAmounts, doubles, cap(2)]))
    expect(kindsOf(report)).toEqual({ three: 10 })
    expect(report.byLayer).toEqual({ 'guard:maxToolCalls': 10, '(no layer)': 10 })
  })

  it('another prompt differs in no turn pinned, and in all of them exact', async () => {
    const prompt = parts(undefined, { instructions: 'Be long.' })
    expect((await changed('pinned', prompt)).different).toBe(0)
    const exact = await changed('exact', prompt)
    expect(exact.different).toBe(60)
    expect(exact.turns[0]?.differences[0]).toMatchObject({ kind: 'request', field: 'messages[0]' })
  })

  it('a layer that is left out differs in the turns in which it decided, and names what it needs', async () => {
    const report = await changed('pinned', parts(), ['small-amounts'])
    expect(kindsOf(report)).toEqual({ payMuch: 10 })
    const [{ differences = [], lanes = [], divergedAt = -1 } = {}] = report.turns
    expect(differences).toMatchObject([
      { kind: 'diverged', step: 'tool c1', replayed: 'the tool did not run, so its result is unknown' },
      { kind: 'decision', step: 'tool c1', layer: 'small-amounts', field: 'denied' },
    ])
    expect(lanes[divergedAt]?.step).toBe('tool c1')
  })
})
