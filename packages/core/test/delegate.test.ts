import { describe, expect, it } from 'vitest'
import type { ScriptedStep } from '../../testing/src/index.ts'
import { rootTurnIdOf } from '../src/context.ts'
import { type Agent, type AnyTool, delegate, type Middleware, type Snapshot, type ToolExecution } from '../src/index.ts'
import { build, failure, gate, only, read, results, tool } from './kit.ts'

const ask: ScriptedStep = { toolCalls: [{ name: 'research', callId: 'c1', args: { task: 'find' } }] }
const pay: ScriptedStep = { toolCalls: [{ name: 'pay', callId: 'p1', args: { cents: 5 } }] }

/** A tool that hands its task to another agent. */
const research = (child: Agent<never> | Agent) =>
  tool('research', async ({ task }, ctx: ToolExecution) => {
    const result = await delegate(ctx, child as Agent, task)
    return result?.text ?? 'waits'
  })

/** A parent and the sub-agent that it calls once. */
function family(
  childSteps: readonly ScriptedStep[],
  { parent = [] as Middleware[], child = [] as Middleware[], tools = [tool('pay')] } = {},
) {
  const sub = build(childSteps, child, { name: 'researcher', tools })
  const top = build([ask, 'Done.'], parent, { name: 'chief', tools: [research(sub.agent)] })
  return { ...top, sub }
}

describe('delegate()', () => {
  it('gives what the sub-agent answered, and adds its usage to the turn', async () => {
    const { agent, sub } = family(['Found.'])
    const session = agent.session()
    const { usage, text } = await session.run('go')
    expect([text, results(session.history)]).toEqual(['Done.', { c1: 'Found.' }])
    expect(usage).toMatchObject({ calls: 3, inputTokens: 30, outputTokens: 15 })
    expect(sub.model.requests[0]?.messages).toEqual([{ role: 'user', content: 'find' }])
  })

  it('passes the principal and the context on', async () => {
    const seen: unknown[] = []
    const look: Middleware = {
      name: 'look',
      async turn(ctx, next) {
        seen.push(ctx.principal, ctx.context)
        await next()
      },
    }
    const { agent } = family(['Found.'], { child: [look] })
    await agent.session({ principal: { tenantId: 'acme' }, context: { locale: 'no' } }).run('go')
    expect(seen).toEqual([{ tenantId: 'acme' }, { locale: 'no' }])
  })

  it("tells the sub-agent's events in the run and to its observers, with the path; its text is not the run's", async () => {
    const { agent } = family(['Found.'])
    const heard: unknown[] = []
    agent.on('turn:end', ({ path, status }) => heard.push([path, status]))
    const run = agent.run('go')
    const { events, all } = await read(run)
    expect(all).toBe('Done.')
    expect(only(events, 'turn:end').map(({ path }) => path)).toEqual([['researcher'], undefined])
    expect(heard).toEqual([
      [['researcher'], 'completed'],
      [undefined, 'completed'],
    ])
    const chunks = only(events, 'model:chunk') as { path: string[]; chunk: { delta?: string } }[]
    expect(chunks.map(({ chunk }) => chunk.delta ?? '').join('')).toBe('Found.')
    expect(new Set(chunks.map(({ path }) => path.join()))).toEqual(new Set(['researcher']))
    let text = ''
    for await (const delta of family(['Found.']).agent.run('go').textStream) text += delta
    expect(text).toBe('Done.')
  })

  it('nests: the path of a grandchild names both', async () => {
    const grandchild = build(['Deep.'], [], { name: 'clerk' })
    const child = build([ask, 'Middle.'], [], { name: 'researcher', tools: [research(grandchild.agent)] })
    const { agent } = build([ask, 'Done.'], [], { tools: [research(child.agent)] })
    const run = agent.run('go')
    const { events } = await read(run)
    expect(only(events, 'turn:end').map(({ path }) => path)).toEqual([
      ['researcher', 'clerk'],
      ['researcher'],
      undefined,
    ])
    expect((await run).usage.calls).toBe(5)
  })

  it('ends where an agent calls itself without end: the model is told', async () => {
    const told: unknown[] = []
    const itself: AnyTool = tool('research', async (_, ctx) => (await delegate(ctx, endless.agent, 'on'))?.text)
    const steps = [...Array.from({ length: 17 }, () => ask), ...Array.from({ length: 17 }, () => 'Back.')]
    const endless: ReturnType<typeof build> = build(steps, [], { name: 'endless', tools: [itself] })
    endless.agent.on('tool:end', ({ content, path }) => path === undefined || told.push([path.length, content]))
    const { text, usage } = await endless.agent.run('go')
    expect([text, usage.calls]).toEqual(['Back.', 33])
    expect(told).toContainEqual([15, expect.stringContaining('depth 17 of nested agents')])
  })

  it('is for tools: another context is refused by name', async () => {
    const { agent } = build(['x'])
    const error = await failure(delegate({} as ToolExecution, agent, 'hi'))
    expect([error.code, error.message]).toEqual(['layer.invalid', expect.stringContaining('execute(args, ctx)')])
  })
})

describe('layers with inherit', () => {
  const log: string[] = []
  const guard = (name: string, more: Partial<Middleware> = {}): Middleware => ({
    name,
    inherit: true,
    state: { [`${name}:calls`]: { default: 0, reducer: (a: number, b: number) => a + b } },
    async agent(_, next) {
      log.push(`${name} agent`)
      await next()
    },
    async session(_, next) {
      log.push(`${name} session`)
      await next()
    },
    async model(ctx, next) {
      ctx.state[`${name}:calls`] = 1
      log.push(`${name} ${ctx.agent.name}`)
      return next()
    },
    ...more,
  })

  it("stand outside the sub-agent's own, with the state of their parent; innermost ones stay innermost", async () => {
    log.length = 0
    const own = (name: string, innermost = false): Middleware => ({
      name,
      innermost,
      model(_, next) {
        log.push(name)
        return next()
      },
    })
    const { agent } = family(['Found.'], {
      parent: [guard('meter', { innermost: true }), guard('guard')],
      child: [own('child meter', true), own('child')],
    })
    const { state } = await agent.run('go')
    expect(state).toMatchObject({ 'guard:calls': 3, 'meter:calls': 3 })
    const inChild = log.slice(log.indexOf('guard researcher'), log.indexOf('guard researcher') + 4)
    expect(inChild).toEqual(['guard researcher', 'child', 'meter researcher', 'child meter'])
    expect(log.filter((line) => /agent|session/.test(line))).toHaveLength(4)
  })

  it('of a parent act for the parent: session id, root turn id, and a block that ends its run', async () => {
    const seen = new Set<string>()
    const strict = guard('strict', {
      tool(ctx, next) {
        seen.add(`${ctx.sessionId} ${rootTurnIdOf(ctx)}`)
        if (ctx.tool.name === 'pay') ctx.block('no payments')
        return next()
      },
    })
    const { agent } = family([pay, 'never'], { parent: [strict] })
    const session = agent.session()
    expect(await session.run('go')).toMatchObject({ status: 'blocked', reason: 'no payments' })
    expect([seen.size, session.pending]).toEqual([1, []])
  })

  it('deny in a sub-agent what they deny in its parent', async () => {
    const ran: string[] = []
    const policy = guard('policy', { tool: (ctx, next) => (ctx.tool.name === 'pay' ? ctx.deny('never') : next()) })
    const { agent } = family([pay, 'Could not.'], { parent: [policy], tools: [tool('pay', () => ran.push('paid'))] })
    const session = agent.session()
    await session.run('go')
    expect([ran, results(session.history)]).toEqual([[], { c1: 'Could not.' }])
  })

  it('without inherit stay with the parent', async () => {
    log.length = 0
    const { agent } = family(['Found.'], { parent: [guard('guard', { inherit: false })] })
    await agent.run('go')
    expect(log).not.toContain('guard researcher')
  })
})

describe('an abort', () => {
  it('of the parent reaches the provider of the sub-agent', async () => {
    const { agent, sub } = family([{ stall: true }])
    const run = agent.run('go')
    const started = gate()
    sub.agent.on('model:start', () => started.open())
    await started.promise
    run.abort('enough')
    expect((await failure(run)).name).toBe('AbortError')
    await sub.agent.dispose()
    expect(sub.model.closed).toBe(1)
  })

  it('of the sub-agent alone is an error of its tool', async () => {
    const giveUp: Middleware = { name: 'give-up', turn: (ctx) => ctx.abort('too hard') }
    const { agent } = family([], { child: [giveUp] })
    const session = agent.session()
    await session.run('go')
    expect(results(session.history)).toEqual({ c1: 'The tool "research" failed.' })
  })
})

describe('a sub-agent that waits for a human', () => {
  const paying = (options = {}) => {
    const ran: unknown[] = []
    const tools = [tool('pay', (args) => `paid ${ran.push(args)}`, { requireApproval: true })]
    return { ran, ...family([pay, 'Paid.'], { tools, ...options }) }
  }

  it("suspends its parent's run, whose pending calls are those inside, with the path", async () => {
    const { agent, ran } = paying()
    const session = agent.session()
    const { status, pending } = await session.run('go')
    expect([status, ran]).toEqual(['suspended', []])
    expect(pending).toMatchObject([{ callId: 'c1/p1', name: 'pay', args: { cents: 5 }, path: ['researcher'] }])
  })

  it('goes on inside with the decision, and does not begin again', async () => {
    const { agent, ran, sub, model } = paying()
    const session = agent.session()
    await session.run('go')
    const { text } = await session.resume({ 'c1/p1': { approve: true } })
    expect([text, ran, results(session.history)]).toEqual(['Done.', [{ cents: 5 }], { c1: 'Paid.' }])
    expect([sub.model.calls, model.calls]).toEqual([2, 2])
  })

  it('is resumed from a snapshot by another process', async () => {
    const { agent } = paying()
    const first = agent.session()
    await first.run('go')
    const snapshot: Snapshot = JSON.parse(JSON.stringify(first.snapshot()))
    const ran: unknown[] = []
    const tools = [tool('pay', (args) => ran.push(args), { requireApproval: true })]
    const sub = build(['Paid there.'], [], { name: 'researcher', tools })
    const session = build(['Done there.'], [], { name: 'chief', tools: [research(sub.agent)] }).agent.session()
    session.restore(snapshot)
    const { text } = await session.resume({ 'c1/p1': { args: { cents: 3 } } })
    expect([text, ran, results(session.history)]).toEqual(['Done there.', [{ cents: 3 }], { c1: 'Paid there.' }])
  })

  it('is decided once, also from an old snapshot', async () => {
    const { agent, ran } = paying()
    const session = agent.session()
    await session.run('go')
    const snapshot = session.snapshot()
    await session.resume({ 'c1/p1': { approve: true } })
    session.restore(snapshot)
    expect((await failure(session.resume({ 'c1/p1': { approve: true } }))).code).toBe('approval.used')
    expect(ran).toHaveLength(1)
  })
})

describe('what waits inside a sub-agent', () => {
  async function waitingInside(parent: readonly Middleware[] = [], options = {}) {
    const ran: unknown[] = []
    const pay = tool('pay', (args) => ran.push(args), { requireApproval: true })
    const validate = (_: unknown, args: unknown) => ('bad' in (args as object) ? [{ message: 'bad args' }] : [])
    const call = (name: string, callId: string) => ({ toolCalls: [{ name, callId }] })
    const sub = build([call('pay', 'p1'), 'Paid.'], [], { name: 'clerk', tools: [pay], validate })
    const office = tool('office', async (_, ctx) => (await delegate(ctx, sub.agent as Agent, 'pay'))?.text)
    const session = build([call('office', 'c1'), 'Done.'], parent, { tools: [office], ...options }).agent.session()
    return { session, ran, result: await session.run('go') }
  }
  const approvals = { secret: 'only the server knows' }

  it('shows no token to layers, nor in the result of the call', async () => {
    const seen: unknown[] = []
    const watch: Middleware = {
      name: 'watch',
      async tool(_, next) {
        const result = await next()
        seen.push(result)
        return result
      },
    }
    const { session, result } = await waitingInside([watch])
    const tokens = String(session.pending[0]?.token).split('.')
    expect(tokens).toHaveLength(2)
    for (const token of tokens) expect(JSON.stringify([seen, result.toolCalls])).not.toContain(token)
  })

  it("is protected by its parent's secret: an approval must carry the token", async () => {
    const { session, ran } = await waitingInside([], { approvals })
    const token = session.pending[0]?.token as string
    for (const decision of [{ approve: true }, { approve: true, token: `guess.${token.split('.')[1]}` }])
      expect((await failure(session.resume({ 'c1/p1': decision as { approve: true } }))).code).toBe('approval.forged')
    expect([ran, session.pending.length]).toEqual([[], 1])
    expect((await session.resume({ 'c1/p1': { approve: true, token } })).text).toBe('Done.')
    expect(ran).toHaveLength(1)
  })

  it('is sealed by its parent: an edit in the store is found there, and changes nothing', async () => {
    const { session, ran } = await waitingInside([], { approvals })
    const [{ token } = { token: '' }] = session.pending
    const snapshot = session.snapshot()
    const inner = snapshot.suspension?.calls.c1?.inner?.snapshot.suspension?.calls.p1
    if (inner !== undefined) inner.request = { reason: 'harmless' }
    session.restore(snapshot)
    for (const decision of [{ approve: true, token }, { deny: 'no' }])
      expect((await failure(session.resume({ 'c1/p1': decision as { deny: string } }))).code).toBe('approval.forged')
    expect([ran, session.pending.length]).toEqual([[], 1])
  })

  it('may be denied without a token', async () => {
    const { session, ran } = await waitingInside([], { approvals })
    expect((await session.resume({ 'c1/p1': { deny: 'no' } })).text).toBe('Done.')
    expect(ran).toEqual([])
  })

  it('waits on where only the sub-agent can tell that a decision is refused, and says why', async () => {
    const { session } = await waitingInside()
    const { pending } = await session.resume({ 'c1/p1': { args: { bad: true } } })
    expect(pending).toMatchObject([{ callId: 'c1/p1', refused: expect.stringContaining('do not fit the tool "pay"') }])
  })
})
