import { describe, expect, it } from 'vitest'
import type { ScriptedStep } from '../../testing/src/index.ts'
import { isResumed } from '../src/context.ts'
import type { Decision, Middleware, Snapshot } from '../src/index.ts'
import { build, failure, only, read, results, settled, tool, traffic } from './kit.ts'

/** Asks a human for every call of "work", and lets the rest pass. */
const asking: Middleware = {
  name: 'asking',
  async tool(ctx, next) {
    if (ctx.tool.name === 'work' && ctx.approval === undefined) return ctx.suspend({ reason: 'Is this fine?' })
    return next()
  },
}
const one = [{ text: 'Let me.', toolCalls: [{ name: 'work', callId: 'c1', args: { n: 1 } }] }, 'Done.']
const three = [
  {
    toolCalls: [
      { name: 'other', callId: 'a' },
      { name: 'work', callId: 'b' },
      { name: 'work', callId: 'c' },
    ],
  },
  'Done.',
]

/** A session that waits, and what ran. */
async function waiting(steps: readonly ScriptedStep[] = one, layers: readonly Middleware[] = [asking], options = {}) {
  const ran: unknown[] = []
  const tools = ['work', 'other'].map((name) => tool(name, (args) => `${name} ${ran.push({ name, ...args })}`))
  const { agent, model } = build(steps, layers, { tools, ...options })
  const session = agent.session({ principal: { tenantId: 'acme' } })
  const result = await session.run('hi')
  return { agent, session, model, ran, result }
}

describe('a suspended run', () => {
  it('ends with the status suspended, and tells what waits', async () => {
    const { result, session, ran, model } = await waiting()
    expect(result).toMatchObject({ status: 'suspended', text: 'Let me.', usage: { calls: 1 } })
    expect(result.pending).toEqual([
      { callId: 'c1', name: 'work', args: { n: 1 }, request: { reason: 'Is this fine?' }, token: expect.any(String) },
    ])
    expect(session.pending).toEqual(result.pending)
    expect([ran, model.calls]).toEqual([[], 1])
  })

  it('lets the siblings finish, and keeps their results', async () => {
    const { result, ran, session } = await waiting(three)
    expect(ran).toEqual([{ name: 'other' }])
    expect(result.pending.map(({ callId }) => callId)).toEqual(['b', 'c'])
    expect(traffic(session.history)).toEqual({ calls: ['a', 'b', 'c'], results: ['a'] })
    expect(result.toolCalls.map(({ result }) => result.status)).toEqual(['ok', 'suspended', 'suspended'])
  })

  it('tells it in the stream: tool:end with the status suspended, then one turn:end', async () => {
    const { agent } = build(one, [asking], { tools: [tool('work')] })
    const { events } = await read(agent.run('hi'))
    expect(only(events, 'tool:end')).toMatchObject([{ callId: 'c1', status: 'suspended', isError: false }])
    expect(only(events, 'turn:end')).toMatchObject([{ status: 'suspended' }])
  })

  it('suspends a tool with requireApproval that no layer approved', async () => {
    const tools = [tool('work', () => 'ran', { requireApproval: ({ n }: { n: number }) => n > 0 } as object)]
    const { agent } = build(one, [], { tools })
    const session = agent.session()
    const { status, pending } = await session.run('hi')
    expect([status, pending[0]?.request]).toEqual(['suspended', { reason: 'The tool "work" requires an approval.' }])
    const { text } = await session.resume({ c1: { approve: true } })
    expect([text, results(session.history)]).toEqual(['Done.', { c1: 'ran' }])
  })

  it('may be suspended by the tool itself, which is called again with the approval', async () => {
    const work = tool('work', (_, ctx) => (ctx.approval === undefined ? ctx.suspend({ reason: 'Sure?' }) : 'ran'))
    const { agent } = build(one, [], { tools: [work] })
    const session = agent.session()
    expect((await session.run('hi')).pending[0]?.request).toEqual({ reason: 'Sure?' })
    await session.resume({ c1: { approve: true } })
    expect(results(session.history)).toEqual({ c1: 'ran' })
  })
})

describe('resume()', () => {
  it('runs the approved call and goes on: a run of its own, with no input', async () => {
    const { session, result, ran } = await waiting()
    const run = session.resume({ c1: { approve: true } })
    const { events } = await read(run)
    const resumed = await run
    expect(resumed).toMatchObject({ status: 'completed', text: 'Done.', resumes: result.turnId, pending: [] })
    expect(resumed.turnId).not.toBe(result.turnId)
    expect(ran).toEqual([{ name: 'work', n: 1 }])
    expect(only(events, 'turn:start')).toMatchObject([{ resumes: result.turnId, turnIndex: 0 }])
    expect(resumed.messages.map(({ role }) => role)).toEqual(['tool', 'assistant'])
  })

  it('gives the model the reason of a refusal, and the tool does not run', async () => {
    const { session, ran, model } = await waiting()
    const { text, toolCalls } = await session.resume({ c1: { deny: 'too expensive' } })
    expect([text, ran, results(session.history)]).toEqual(['Done.', [], { c1: 'too expensive' }])
    expect(toolCalls[0]?.result).toMatchObject({ status: 'denied', isError: true })
    expect(model.requests[1]?.messages.at(-1)?.content).toMatchObject([{ callId: 'c1', content: 'too expensive' }])
  })

  it('runs the call with the arguments that a human edited', async () => {
    const { session, ran } = await waiting()
    await session.resume({ c1: { args: { n: 7 } } })
    expect(ran).toEqual([{ name: 'work', n: 7 }])
  })

  it('takes decisions in parts: what is undecided goes on waiting, and the model is not asked', async () => {
    const { session, ran, model } = await waiting(three)
    const first = await session.resume({ c: { approve: true } })
    expect([first.status, first.pending.map(({ callId }) => callId), model.calls]).toEqual(['suspended', ['b'], 1])
    const last = await session.resume({ b: { deny: 'no' } })
    expect([last.status, last.text, last.resumes, ran.length]).toEqual(['completed', 'Done.', first.turnId, 2])
    expect(traffic(session.history)).toEqual({ calls: ['a', 'b', 'c'], results: ['a', 'b', 'c'] })
    expect(session.history.filter(({ role }) => role === 'tool')).toHaveLength(1)
  })

  it('re-enters the turn onion, and of the tool onion only the calls that waited', async () => {
    const seen: unknown[] = []
    const watch: Middleware = {
      name: 'watch',
      async turn(ctx, next) {
        seen.push(['turn', isResumed(ctx), ctx.input.length])
        await next()
      },
      tool(ctx, next) {
        seen.push([ctx.callId, ctx.approval])
        return next()
      },
    }
    const { session } = await waiting(three, [watch, asking])
    seen.length = 0
    await session.resume({ b: { approve: true }, c: { deny: 'no' } })
    expect(seen).toEqual([
      ['turn', true, 0],
      ['b', { approve: true }],
      ['c', { deny: 'no' }],
    ])
  })

  it('keeps turn state and the number of the turn', async () => {
    const seen: unknown[] = []
    const count: Middleware = {
      name: 'count',
      state: { n: { default: 0, reducer: (a: number, b: number) => a + b, scope: 'turn' } },
      async turn(ctx, next) {
        ctx.state.n = 1
        seen.push([ctx.state.n, ctx.turnIndex])
        await next()
      },
    }
    const { session } = await waiting([...one, 'again'], [count, asking])
    await session.resume({ c1: { approve: true } })
    await session.run('next')
    expect(seen).toEqual([
      [1, 0],
      [2, 0],
      [1, 1],
    ])
  })

  it('counts steps on, so that maxSteps bounds the turn and not the run', async () => {
    const again = { toolCalls: [{ name: 'other' }] }
    const { session } = await waiting([one[0] as ScriptedStep, again, again, 'never'], [asking], { maxSteps: 3 })
    const { status, reason } = await session.resume({ c1: { approve: true } })
    expect([status, reason]).toEqual(['stopped', 'max_steps'])
  })

  it('runs what was meant to happen once only once: an audit layer outside the one that asks', async () => {
    const audit: string[] = []
    const auditing: Middleware = {
      name: 'audit',
      async turn(ctx, next) {
        await ctx.once('turn', () => audit.push('turn'))
        await next()
      },
      async tool(ctx, next) {
        await ctx.once('asked', () => audit.push(`asked ${ctx.callId}`))
        return next()
      },
    }
    const { session } = await waiting(one, [auditing, asking])
    await session.resume({ c1: { approve: true } })
    expect(audit).toEqual(['turn', 'asked c1'])
  })

  it('asks again where the arguments changed after a human approved them', async () => {
    let n = 0
    const restless: Middleware = {
      name: 'restless',
      tool(ctx, next) {
        ctx.modifyArgs({ n: ++n })
        return next()
      },
    }
    const { session, ran } = await waiting(one, [restless], {
      tools: [tool('work', () => 1, { requireApproval: true })],
    })
    const { status, pending } = await session.resume({ c1: { approve: true } })
    expect([status, ran]).toEqual(['suspended', []])
    expect(pending[0]?.request).toEqual({ reason: 'The arguments of "work" changed after they had been approved.' })
  })

  it('asks again where the arguments that a layer had asked for are others when it sees the approval', async () => {
    let n = 0
    const restless: Middleware = {
      name: 'restless',
      tool(ctx, next) {
        ctx.modifyArgs({ n: n++ === 1 ? 99 : 1 })
        return next()
      },
    }
    const { session, ran } = await waiting(one, [restless, asking])
    const second = await session.resume({ c1: { approve: true } })
    expect([second.status, ran]).toEqual(['suspended', []])
    const third = await session.resume({ c1: { approve: true } })
    expect([third.status, ran]).toEqual(['suspended', []])
    await session.resume({ c1: { approve: true } })
    expect(ran).toEqual([{ name: 'work', n: 1 }])
  })

  it('ends the loop after its tools where a layer had asked for that before the wait', async () => {
    const stopping: Middleware = {
      name: 'stopping',
      tool(ctx, next) {
        ctx.stop('enough')
        return next()
      },
    }
    const { session, result, model } = await waiting(one, [stopping, asking])
    const resumed = await session.resume({ c1: { approve: true } })
    expect([result.status, resumed.status, resumed.reason, model.calls]).toEqual(['suspended', 'stopped', 'enough', 1])
  })

  it('is given up by a new run, which closes what waits as not approved', async () => {
    const { session, result } = await waiting()
    const next = await session.run('never mind')
    expect([result.status, next.text, results(session.history)]).toEqual([
      'suspended',
      'Done.',
      { c1: 'Not approved.' },
    ])
    expect((await failure(session.resume({ c1: { approve: true } }))).code).toBe('approval.unknown')
  })
})

describe('what wins over a suspension', () => {
  it.each([
    ['an abort', (ctx: { abort(): never }) => ctx.abort(), 'AbortError', 'Cancelled.'],
    ['an error', () => Promise.reject(new Error('boom')), 'boom', 'Cancelled.'],
  ])('%s of a turn layer on the way out: the calls that waited are closed', async (_, end, said, content) => {
    const last: Middleware = {
      name: 'last',
      async turn(ctx, next) {
        await next()
        await end(ctx as never)
      },
    }
    const { agent } = build(one, [last, asking], { tools: [tool('work')] })
    const session = agent.session()
    const { error } = await settled(session.run('hi'))
    expect(String(error)).toContain(said)
    expect([session.pending, results(session.history)]).toEqual([[], { c1: content }])
  })

  it('a deny of an outer layer', async () => {
    const deny: Middleware = {
      name: 'deny',
      async tool(ctx, next) {
        const result = await next()
        return result.status === 'suspended' ? ctx.deny('not at night') : result
      },
    }
    const { result, session } = await waiting(one, [deny, asking])
    expect([result.status, results(session.history)]).toEqual(['completed', { c1: 'not at night' }])
  })

  it('no skip and no returned value: it beats both', async () => {
    const layers: Middleware[] = [
      { name: 'value', tool: (_, next) => next().then(() => 'mine') },
      { name: 'skip', tool: (ctx, next) => next().then(() => ctx.skipCall('skipped')) },
      asking,
    ]
    const { result, ran } = await waiting(one, layers)
    expect([result.status, ran]).toEqual(['suspended', []])
  })

  it('an output set while calls wait is refused, for it would part the calls from their results', async () => {
    const late: Middleware = {
      name: 'late',
      async turn(ctx, next) {
        await next()
        ctx.output = 'All done!'
      },
    }
    const { agent } = build([{ toolCalls: [{ name: 'work', callId: 'c1' }] }], [late, asking], {
      tools: [tool('work')],
    })
    const { error } = await settled(agent.run('hi'))
    expect(error?.message).toContain('set ctx.output while tool calls are pending')
  })
})

describe('three parallel calls', () => {
  const ways = ['ok', 'suspend', 'block', 'fail', 'deny', 'throw'] as const
  const all = ways.flatMap((a) => ways.flatMap((b) => ways.map((c) => [a, b, c] as const)))
  const acting: Middleware = {
    name: 'acting',
    async tool(ctx, next) {
      const how = ctx.args.how as (typeof ways)[number]
      if (how === 'suspend' && ctx.approval === undefined) return ctx.suspend()
      if (how === 'block') ctx.block('blocked here')
      if (how === 'fail') throw new Error('a layer fails')
      if (how === 'deny') return ctx.deny('no')
      return next()
    },
  }

  it.each(all)('%s, %s, %s: one status, and a history that is valid', async (...hows) => {
    const toolCalls = hows.map((how, i) => ({ name: 'work', callId: `c${i}`, args: { how } }))
    const work = tool('work', ({ how }) => {
      if (how === 'throw') throw new Error('a tool throws')
      return 'ok'
    })
    const { agent } = build([{ toolCalls }, 'Done.'], [acting], { tools: [work] })
    const session = agent.session()
    const { result, error } = await settled(session.run('hi'))
    const waits = hows.flatMap((how, i) => (how === 'suspend' ? [`c${i}`] : []))
    const ended = hows.find((how) => how === 'block' || how === 'fail')
    const expected =
      { block: 'blocked', fail: undefined }[ended as string] ?? (waits.length > 0 ? 'suspended' : 'completed')
    if (error !== undefined) expect([error.message, ended !== undefined]).toEqual(['a layer fails', true])
    else expect(result?.status).toBe(ended === undefined ? expected : 'blocked')
    expect(session.pending.map(({ callId }) => callId)).toEqual(result?.status === 'suspended' ? waits : [])
    if (result?.status !== 'suspended') return
    const decisions = Object.fromEntries(waits.map((id): [string, Decision] => [id, { approve: true }]))
    expect((await session.resume(decisions)).status).toBe('completed')
    expect(traffic(session.history).results).toEqual(['c0', 'c1', 'c2'])
  })
})

describe('a snapshot of a session that waits', () => {
  const json = (snapshot: Snapshot): Snapshot => JSON.parse(JSON.stringify(snapshot))

  it('is resumed by another agent, from JSON, with turn state and what ran once', async () => {
    const log: string[] = []
    const layer: Middleware = {
      name: 'layer',
      state: { n: { default: 0, reducer: (a: number, b: number) => a + b, scope: 'turn' } },
      async turn(ctx, next) {
        ctx.state.n = 1
        log.push(`n ${ctx.state.n}, once ${await ctx.once('id', () => log.length)}`)
        await next()
      },
    }
    const first = await waiting(one, [layer, asking])
    const snapshot = json(first.session.snapshot())
    const { agent } = build(['From the other.'], [layer, asking], { tools: [tool('work', () => 'ran')] })
    const session = agent.session({ principal: { tenantId: 'acme' } })
    session.restore(snapshot)
    expect(session.pending).toEqual(first.session.pending)
    const { text, turnId } = await session.resume({ c1: { approve: true } })
    expect([text, results(session.history)]).toEqual(['From the other.', { c1: 'ran' }])
    expect([log, turnId === first.result.turnId]).toEqual([['n 1, once 0', 'n 2, once 0'], false])
  })

  it('is forgotten by the session when the turn has ended', async () => {
    const { session } = await waiting()
    await session.resume({ c1: { approve: true } })
    const { suspension, once } = session.snapshot()
    expect([suspension, once]).toEqual([undefined, undefined])
  })

  it('tells its own reader with turn:end what waits, and observers nothing of it: a token is no log line', async () => {
    const { agent } = build(one, [asking], { tools: [tool('work')], approvals: { secret: 'a long secret' } })
    const heard: object[] = []
    agent.on('turn:end', (event) => heard.push(event))
    const run = agent.session({ principal: { tenantId: 'acme' } }).run('hi')
    const { events } = await read(run)
    const { pending } = await run
    expect(only(events, 'turn:end')[0]).toMatchObject({ status: 'suspended', pending })
    expect([pending[0]?.token, heard.length, 'pending' in (heard[0] ?? {})]).toEqual([expect.any(String), 1, false])
  })
})
