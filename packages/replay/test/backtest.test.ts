import { type Middleware, toJson } from '@allium/core'
import { approve, maxToolCalls, policy } from '@allium/guard'
import { memoryStore } from '@allium/store'
import { describe, expect, it } from 'vitest'
import { calls, ran, recordTurns, supportAgent, tested, toolsOf } from './backtest-kit.ts'

const noRefunds = (name = 'no-refunds'): Middleware => ({
  name,
  tool: (ctx, next) => (ctx.tool.name === 'refund' ? ctx.deny('no refunds') : next()),
})
const twoCalls = [calls('search'), calls('refund'), 'done']

describe('backtest()', () => {
  it('finds no change for an unchanged agent, and runs no model and no tool', async () => {
    const layers = () => [policy({ deny: ['pay'] }), maxToolCalls({ limit: 3 })]
    const { store } = await recordTurns({
      layers: layers(),
      steps: [calls('search', 'refund'), calls('search'), calls('search'), 'done', ...twoCalls],
      inputs: ['one', 'two'],
    })
    const report = await tested(store, { layers: layers() })
    expect(report.calls).toMatchObject({ judged: 6, unchanged: 6, newlyDenied: 0, newlyAllowed: 0, notJudged: {} })
    expect([report.turns, ran]).toEqual([{ run: 2, diverged: {}, notReplayable: {} }, []])
  })

  it('names the layer, the reason, the tenant and the principal of a newly denied call', async () => {
    const { store } = await recordTurns({ steps: twoCalls })
    const report = await tested(store, { layers: [noRefunds()] })
    expect(report.calls).toMatchObject({ judged: 2, unchanged: 1, newlyDenied: 1 })
    expect(report.changes).toMatchObject([
      {
        ...{ change: 'newly denied', layer: 'no-refunds', reason: 'no refunds', before: 'allowed', tool: 'refund' },
        ...{ tenant: 'acme', owner: 'dana', principal: { tenantId: 'acme', userId: 'dana' }, afterChange: false },
      },
    ])
    expect(report.layers).toMatchObject([{ layer: 'no-refunds', reason: 'no refunds', calls: 1, tenants: { acme: 1 } }])
  })

  it('marks later calls of a turn as "after a changed call"', async () => {
    const { store } = await recordTurns({ steps: [calls('refund'), calls('search'), calls('refund'), 'done'] })
    const { calls: counts, changes } = await tested(store, { layers: [noRefunds()] })
    expect(counts).toMatchObject({ judged: 3, newlyDenied: 2, unchanged: 1, afterChange: 2 })
    expect(changes.map(({ afterChange }) => afterChange)).toEqual([false, true])
  })

  it('ends a turn at a newly allowed call, because its result is unknown', async () => {
    const { store } = await recordTurns({ layers: [noRefunds()], steps: [calls('refund'), calls('search'), 'done'] })
    const report = await tested(store)
    expect(report.changes).toMatchObject([{ change: 'newly allowed', layer: 'no-refunds', reason: 'no refunds' }])
    expect(report.calls).toMatchObject({ judged: 1, newlyAllowed: 1, notJudged: { 'after a newly allowed call': 1 } })
    expect([report.turns.diverged, ran]).toEqual([{}, []])
  })

  it('judges calls in their order: a lower limit denies only the later ones', async () => {
    const six = [...Array.from({ length: 6 }, () => calls('search')), 'done']
    const { store } = await recordTurns({ layers: [maxToolCalls({ limit: 9 })], steps: six })
    const { changes, calls: counts } = await tested(store, { layers: [maxToolCalls({ limit: 4 })] })
    expect(changes.map(({ layer, afterChange }) => [layer, afterChange])).toEqual([
      ['guard:maxToolCalls', false],
      ['guard:maxToolCalls', true],
    ])
    expect(counts).toMatchObject({ judged: 6, unchanged: 4, newlyDenied: 2 })
  })

  it('reports an option that a raised limit no longer denies', async () => {
    const { store } = await recordTurns({ layers: [maxToolCalls({ limit: 1 })], steps: [...twoCalls] })
    const { changes } = await tested(store, { layers: [maxToolCalls({ limit: 5 })] })
    expect(changes).toMatchObject([{ change: 'newly allowed', layer: 'guard:maxToolCalls', tool: 'refund' }])
  })

  it('reports a call that a layer now ends the turn with', async () => {
    const { store } = await recordTurns({ steps: [calls('search'), calls('search'), calls('search'), 'done'] })
    const report = await tested(store, { layers: [maxToolCalls({ limit: 1, onLimit: 'block' })] })
    expect(report.changes).toMatchObject([{ change: 'newly denied', layer: 'guard:maxToolCalls' }])
    expect(report.calls.notJudged).toEqual({ 'a layer now ends the turn': 1 })
  })

  it('reports calls that now wait for an approval, by a layer or by the tool itself', async () => {
    const { store } = await recordTurns({ steps: [calls('refund'), calls('search'), 'done'] })
    const byLayer = await tested(store, { layers: [approve({ tools: ['refund'] })] })
    const byTool = await tested(store, { tools: toolsOf({ requireApproval: true }) })
    for (const { calls: counts } of [byLayer, byTool])
      expect(counts).toMatchObject({ newlyWaiting: 1, notJudged: { 'after a newly waiting call': 1 } })
    expect([byLayer.changes[0]?.layer, byTool.changes[0]?.layer]).toEqual(['guard:approve', undefined])
  })

  it('runs approved and denied calls of resumed turns with their decisions', async () => {
    const layers = () => [approve({ tools: ['refund'] })]
    const { store, session } = await recordTurns({ layers: layers(), steps: [calls('refund', 'refund'), 'done'] })
    const [first, second] = session.pending.map(({ callId }) => callId) as [string, string]
    await session.resume({ [first]: { approve: true }, [second]: { deny: 'not this one' } })
    expect((await tested(store, { layers: layers() })).calls).toMatchObject({ judged: 4, unchanged: 4 })
    const { changes } = await tested(store, { layers: [...layers(), noRefunds()] })
    expect(changes.map(({ change, before }) => [change, before])).toEqual([
      ['newly denied', 'waiting'],
      ['newly denied', 'waiting'],
      ['newly denied', 'allowed'],
    ])
  })

  it('rejects arguments that no longer fit the schema of the tool', async () => {
    const { store } = await recordTurns({ steps: [calls('refund'), 'done'] })
    const validate = () => ({ issues: [{ message: 'The amount is too high.' }] })
    const schema = { '~standard': { version: 1 as const, vendor: 'test', validate } }
    const { changes } = await tested(store, { tools: toolsOf({ schema }) })
    expect(changes).toMatchObject([{ change: 'newly denied', layer: undefined, tool: 'refund' }])
    expect(changes[0]?.reason).toContain('The amount is too high.')
  })

  it('passes arguments as the model sent them, not as a layer changed them', async () => {
    const doubles: Middleware = {
      name: 'doubles',
      tool(ctx, next) {
        ctx.modifyArgs({ amount: (ctx.args.amount as number) * 2 })
        return next()
      },
    }
    const { store } = await recordTurns({ layers: [doubles], steps: [calls('refund'), 'done'] })
    const seen: unknown[] = []
    const looks: Middleware = {
      name: 'looks',
      tool(ctx, next) {
        seen.push(ctx.args)
        return next()
      },
    }
    await tested(store, { layers: [looks] })
    expect(seen).toEqual([{ amount: 1 }])
  })

  it('gives layers the principal, the history, the state and the time of the recording', async () => {
    const counts: Middleware = {
      name: 'counts',
      state: { seen: { default: 0 } },
      tool(ctx, next) {
        ctx.state.seen += 1
        return next()
      },
    }
    const { store } = await recordTurns({ layers: [counts], steps: [...twoCalls, ...twoCalls], inputs: ['a', 'b'] })
    const seen = new Map<number, unknown>()
    const looks: Middleware = {
      name: 'looks',
      tool(ctx, next) {
        const age = Date.now() - ctx.clock.now()
        seen.set(ctx.state.seen, [ctx.history.length, ctx.principal.tenantId, age < 60_000])
        return next()
      },
    }
    await tested(store, { layers: [counts, looks] })
    expect([...seen.keys()].sort()).toEqual([1, 2, 3, 4])
    expect(seen.get(3)).toEqual([8, 'acme', true])
  })

  it('tells layers apart whose turn or model hooks did not run', async () => {
    const both: Middleware = {
      name: 'both',
      state: { risky: { default: true, scope: 'turn' } },
      model(ctx, next) {
        ctx.state.risky = false
        return next()
      },
      tool: (ctx, next) => (ctx.state.risky ? ctx.deny('risky') : next()),
    }
    const { store } = await recordTurns({ layers: [both], steps: twoCalls })
    const report = await tested(store, { layers: [both] })
    expect(report.withoutHooks).toEqual([{ layer: 'both', hooks: ['model'] }])
    expect(report.changes[0]).toMatchObject({ layer: 'both', withoutHooks: ['model'] })
  })
})

describe('turns that cannot be judged', () => {
  it('are counted by reason: damaged recordings, lost histories, layers of a run', async () => {
    const { store, session } = await recordTurns({ steps: twoCalls })
    const times = { startedAt: 1, expiresAt: Date.now() + 1e6 }
    const key = session.key
    const first = await store.recordings.get({ key, turnId: (await store.find(key, { version: 1 }))?.turnId ?? '' })
    const change = (changes: object) => toJson({ ...JSON.parse(first?.content ?? ''), ...changes })
    const add = (turnId: string, content: string) => store.recordings.add({ key, turnId, ...times, content })
    await add('a', '{"format":1}')
    await add('b', change({ before: { messages: 9, version: 7 } }))
    await add('c', change({ task: { input: 'hi', options: { use: ['mine'] } } }))
    await add('d', change({ notReplayable: ['larger than maxBytes'] }))
    await add('e', change({ task: { input: { role: 'nobody' }, options: {} } }))
    const report = await tested(store, { layers: [noRefunds()] })
    expect(report.turns).toEqual({
      run: 1,
      diverged: {},
      notReplayable: {
        'the recording is damaged': 1,
        'history gone': 1,
        'the run had layers of its own': 1,
        'larger than maxBytes': 1,
        'the run failed with message.invalid': 1,
      },
    })
  })

  it('count a layer that fails as diverged, and its call as not judged', async () => {
    const fails: Middleware = {
      name: 'fails',
      tool() {
        throw new Error('no database')
      },
    }
    const { store } = await recordTurns({ steps: twoCalls })
    const { turns, calls: counts } = await tested(store, { layers: [fails] })
    expect(turns.diverged).toEqual({ 'the layer "fails" failed': 1 })
    expect(counts).toMatchObject({ judged: 0, notJudged: { 'the layer "fails" failed': 2 } })
  })

  it('keep a broken model answer of a hostile recording from the report', async () => {
    const { store, session } = await recordTurns({ steps: twoCalls })
    const { turnId = '' } = (await store.find(session.key, { version: 1 })) ?? {}
    const recording = await store.recordings.get({ key: session.key, turnId })
    const turn = JSON.parse(recording?.content ?? '')
    for (const step of turn.steps) step.items = [{ type: 'tool-input-end', callId: 7 }, null]
    await store.recordings.add({ ...recording, content: toJson(turn) } as never)
    const { turns, calls: counts } = await tested(store)
    expect([turns.run + (Object.values(turns.notReplayable)[0] ?? 0), counts.judged]).toEqual([1, 0])
  })
})

describe('tenants', () => {
  it('stay apart even if their turns have the same id', async () => {
    const store = memoryStore()
    await recordTurns({ steps: twoCalls, tenant: 'acme' }, store)
    await recordTurns({ steps: twoCalls, tenant: 'other' }, store)
    const ofOther: Middleware = {
      name: 'of-other',
      tool: (ctx, next) => (ctx.principal.tenantId === 'other' ? ctx.deny('closed') : next()),
    }
    const { items } = await store.recordings.list({ agent: 'support', limit: 9 })
    for (const info of items) {
      const recording = await store.recordings.get(info)
      const content = (recording?.content ?? '').replaceAll(info.turnId, 'same')
      await store.recordings.add({ ...recording, turnId: 'same', content } as never)
    }
    const { calls: counts, changes } = await tested(store, { layers: [ofOther] })
    expect(counts).toMatchObject({ judged: 8, newlyDenied: 4 })
    expect(new Set(changes.map(({ tenant }) => tenant))).toEqual(new Set(['other']))
  })
})

describe('the options of backtest()', () => {
  it('reject an agent that has run, an unknown option and a wrong maximum', async () => {
    const agent = supportAgent({ steps: ['hi'] })
    await agent.run('hi')
    const rejected = (options: object) =>
      expect(tested(memoryStore(), {}, options)).rejects.toMatchObject({ code: 'options.invalid' })
    await rejected({ agent })
    await rejected({ agnet: 1 })
    await rejected({ maxChanges: -1 })
  })

  it('limit the listed changes, and still count all of them', async () => {
    const { store } = await recordTurns({ steps: [calls('refund', 'refund'), 'done'] })
    const report = await tested(store, { layers: [noRefunds()] }, { maxChanges: 1 })
    expect([report.changes.length, report.calls.newlyDenied]).toEqual([1, 2])
  })
})
