import { Agent, AlliumError, delegate, type Model, type ToolContext } from '@allium/core'
import { pii } from '@allium/guard'
import { persist } from '@allium/memory'
import { audit } from '@allium/observe'
import type { EventLog } from '@allium/store'
import type { Entry } from '@allium/store/event-log'
import { type SqliteStore, sqlite } from '@allium/store-sqlite'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { afterEach, expect, it } from 'vitest'
import { type Durable, durable } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const call: ScriptedStep = { toolCalls: [{ name: 'pay', callId: 'c1', args: {} }] }
const open: Durable[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.drain()))
})

/** Processes on one store: of those that are dead the clock stands still, and nothing they began ends. */
function world(options: Parameters<typeof sqlite>[1] = {}) {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock, ...options })
  const paid: string[] = []
  const process = (
    model: Model,
    {
      own = clock,
      pay = () => void paid.push('paid') as unknown,
      requireApproval = false,
      expiresIn = 60_000,
      name = 'agent',
      formerNames = [] as string[],
      events = store.events,
    } = {},
  ) => {
    const tool = { name: 'pay', description: 'Pays', jsonSchema: {}, execute: pay, requireApproval }
    const tools = [tool as never]
    const agent = new Agent({
      version: '1',
      name,
      formerNames,
      model,
      tools,
      clock: own,
      approvals: { expiresIn },
    }).use(persist({ store: store.sessions }))
    const runs = durable(agent, { store: { ...store, events }, lease: 1000, clock: own, logger })
    if (own === clock) open.push(runs)
    return runs
  }
  return { clock, store, paid, process }
}

/** What the readers of a run have seen, once it has ended. */
async function eventsOf(runs: Durable, run: string) {
  const events: { type: string; [field: string]: unknown }[] = []
  for await (const { event } of runs.attach(run, { principal }))
    events.push((event as { event: (typeof events)[number] }).event)
  return events
}

const logger = { warn() {}, error() {} }

const isEnd = ({ type }: { type: string }) => type === 'turn:end'

/** A log that never takes the end of a run. It takes that of a sub-agent. */
function endless(log: EventLog): EventLog {
  const taken = ({ event }: Entry) => !isEnd(event) || 'path' in event
  return {
    async append(run, epoch, events, options) {
      const { end, ...rest } = options ?? {}
      const appended = await log.append(run, epoch, (events as Entry[]).filter(taken), rest)
      return end !== true && (events as Entry[]).every(taken) ? appended : new Promise(() => {})
    },
    read: (...of) => log.read(...of),
    latest: (key) => log.latest(key),
    signal: (...of) => log.signal(...of),
    onSignal: (...of) => log.onSignal(...of),
    delete: (of) => log.delete(of),
  }
}

const hangs = () => scriptedModel([{ stall: true }])

it('keeps a task, runs it, and its readers get the events', async () => {
  const { process } = world()
  const runs = process(scriptedModel(['Hello Ann.']))
  const { run, sessionId } = await runs.start({ principal, sessionId: 'chat', input: 'Hi' })
  const events = await eventsOf(runs, run)
  expect(events.map(({ type }) => type)).toContain('text-delta')
  expect(events.at(-1)).toMatchObject({ type: 'turn:end', status: 'completed', turnId: run })
  expect(await runs.get(run, { principal })).toMatchObject({ run, sessionId, status: 'completed', text: 'Hello Ann.' })
})

it('tells its end at once where a layer does something once at the end', async () => {
  const { clock, store } = world()
  const done: string[] = []
  const agent = new Agent({ version: '1', model: scriptedModel(['Hello.']), clock })
    .use(persist({ store: store.sessions }))
    .use({
      name: 'closes',
      turn(ctx, next) {
        ctx.onEnd(() => ctx.once('close', () => void done.push('closed')))
        return next()
      },
    })
  const runs = durable(agent, { store, lease: 1000, clock })
  open.push(runs)
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi' })
  for (let i = 0; i < 50; i++) await settled()
  const log = await store.events.latest({ tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' })
  expect([log, done]).toEqual([{ turnId: run, seq: expect.any(Number), ended: true }, ['closed']])
})

it('goes on in another process where one was lost: no recorded call again, no finished tool again', async () => {
  const { clock, process, paid, store } = world()
  const dead = process(scriptedModel([call, { stall: true }]), { own: manualClock() })
  const { run } = await dead.start({ principal, sessionId: 'chat', input: 'Pay.' })
  await untilStep(store, run, 'tool:c1')
  await clock.advance(1500)
  const model = scriptedModel(['Paid.'])
  const next = process(model)
  await next.recover()
  const events = await eventsOf(next, run)
  expect([paid, model.requests.length]).toEqual([['paid'], 1])
  expect(await next.get(run, { principal })).toMatchObject({ status: 'completed', text: 'Paid.' })
  expect(events.filter(({ type }) => type === 'tool:start')).toHaveLength(1)
  expect(events.filter(({ type }) => type === 'turn:start')).toHaveLength(1)
})

it('ends with store.full for its client where the store has no room midway, in which the log has none, either', async () => {
  const store = sqlite(':memory:', { maxBytes: 700_000 })
  const big = { name: 'big', description: 'Big', jsonSchema: {}, execute: () => 'x'.repeat(2_000_000) }
  const model = scriptedModel([{ toolCalls: [{ name: 'big', args: {} }] }, 'Never.'])
  const agent = new Agent({ version: '1', model, tools: [big as never] }).use(persist({ store: store.sessions }))
  const runs = durable(agent, { store, logger: { ...console, error() {}, warn() {} } })
  open.push(runs)
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi' })
  expect((await eventsOf(runs, run)).at(-1)).toMatchObject({ type: 'run:error', code: 'store.full' })
})

it('keeps the session for its run while nobody has taken that over', async () => {
  const { clock, process, store } = world()
  const dead = process(hangs(), { own: manualClock() })
  const { run } = await dead.start({ principal, sessionId: 'chat', input: 'Pay.' })
  await clock.advance(1500)
  const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
  expect(await store.sessions.acquire(key, 1000)).toMatchObject({ heldUntil: expect.any(Number) })
  expect(await process(scriptedModel(['Done.'])).recover()).toBe(1)
  expect(run).toBeTypeOf('string')
})

it('is one run for one key, and refuses another task under it', async () => {
  const { process } = world()
  const runs = process(scriptedModel(['Hello.']))
  const asked = { principal, sessionId: 'chat', input: 'Hi', idempotencyKey: 'k' }
  const [a, b] = [await runs.start(asked), await runs.start(asked)]
  await eventsOf(runs, a.run)
  expect(b).toEqual(a)
  await expect(runs.start({ ...asked, input: 'Bye' })).rejects.toMatchObject({ code: 'run.key_reused' })
})

it('is one run for one key without a session, too, for each owner', async () => {
  const { process } = world()
  const runs = process(scriptedModel(['One.', 'Two.']))
  const start = (userId: string) =>
    runs.start({ principal: { tenantId: 'acme', userId }, input: 'Hi', idempotencyKey: 'k1' })
  const [first, again, other] = [await start('ann'), await start('ann'), await start('bob')]
  expect(again).toEqual(first)
  expect(other.run).not.toBe(first.run)
})

it("answers about another's run as about none", async () => {
  const { process } = world()
  const runs = process(scriptedModel(['Hello.']))
  const { run } = await runs.start({ principal, input: 'Hi' })
  for (const other of [
    { tenantId: 'acme', userId: 'bob' },
    { tenantId: 'other', userId: 'ann' },
  ])
    await expect(runs.get(run, { principal: other })).rejects.toMatchObject({ code: 'session.not_found' })
  await eventsOf(runs, run)
})

it("takes the result of a client's tool, also where it is given to another process", async () => {
  const { process } = world()
  const locate = { name: 'locate', description: 'Where', jsonSchema: { type: 'object' } }
  const first = process(scriptedModel([{ toolCalls: [{ name: 'locate', callId: 'c1', args: {} }] }]))
  const { run } = await first.start({ principal, sessionId: 'chat', input: 'Where am I?', clientTools: [locate] })
  await eventsOf(first, run)
  const second = process(scriptedModel(['In Oslo.']))
  const again = await second.start({ principal, sessionId: 'chat', decisions: { c1: { result: { city: 'Oslo' } } } })
  await eventsOf(second, again.run)
  expect(await second.get(again.run, { principal })).toMatchObject({ status: 'completed', text: 'In Oslo.' })
})

it('gives up what does not end in time where it stands, and another process goes on with it at once', async () => {
  const { clock, process, store } = world()
  const first = process(scriptedModel([call, { stall: true }]))
  const { run } = await first.start({ principal, sessionId: 'chat', input: 'Pay.' })
  await untilStep(store, run, 'tool:c1')
  const drained = first.drain({ timeout: 1500 })
  await clock.advance(1600)
  await drained
  const next = process(scriptedModel(['Paid.']))
  expect(await next.recover()).toBe(1)
  await eventsOf(next, run)
  expect(await next.get(run, { principal })).toMatchObject({ status: 'completed', text: 'Paid.' })
})

it('gives a run up without an error in the log, also where a layer writes something down as it ends', async () => {
  const { clock, store } = world()
  const logged: string[] = []
  const logger = { warn: (text: string) => void logged.push(text), error: (text: string) => void logged.push(text) }
  const agent = new Agent({ version: '1', model: hangs(), clock, logger })
    .use(persist({ store: store.sessions }))
    .use(audit({ sink: () => {} }))
  const runs = durable(agent, { store, lease: 1000, clock, logger })
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi' })
  await untilStep(store, run, 'observe:audit')
  const drained = runs.drain({ timeout: 1500 })
  await clock.advance(1600)
  await drained
  await clock.advance(20_000)
  expect(logged).toEqual([])
})

it('takes over the runs of an agent that was renamed meanwhile, and lists them', async () => {
  const { clock, process, store, paid } = world()
  const dead = process(scriptedModel([call, { stall: true }]), { own: manualClock(), name: 'support' })
  const { run } = await dead.start({ principal, sessionId: 'chat', input: 'Pay.' })
  await untilStep(store, run, 'tool:c1')
  await clock.advance(1500)
  const renamed = process(scriptedModel(['Paid.']), { name: 'desk', formerNames: ['support'] })
  expect(await renamed.recover()).toBe(1)
  await eventsOf(renamed, run)
  expect(await renamed.get(run, { principal })).toMatchObject({ status: 'completed', text: 'Paid.' })
  const { items } = await renamed.list({ tenant: 'acme' })
  expect([paid, items.map((one) => one.run)]).toEqual([['paid'], [run]])
})

it('leaves the runs of other agents alone, and does not list them', async () => {
  const { clock, process, store } = world()
  const dead = process(scriptedModel([call, { stall: true }]), { own: manualClock(), name: 'support' })
  const { run } = await dead.start({ principal, sessionId: 'chat', input: 'Pay.' })
  await untilStep(store, run, 'tool:c1')
  await clock.advance(1500)
  const other = process(scriptedModel([]), { name: 'sales' })
  expect(await other.recover()).toBe(0)
  expect((await other.list({ tenant: 'acme' })).items).toEqual([])
  await expect(other.get(run, { principal })).rejects.toMatchObject({ code: 'session.not_found' })
})

it('tells the end of a run whose process was lost behind its commit, with the text as its readers saw it', async () => {
  const mirror = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0xff)
  const { clock, store } = world({ encrypt: { seal: mirror, open: mirror } })
  const process = (own: typeof clock, events: EventLog) => {
    const agent = new Agent({ version: '1', model: scriptedModel(['You are [EMAIL_1].']), clock: own, logger })
      .use(persist({ store: store.sessions }))
      .use(pii({ vault: store.vault }))
    return durable(agent, { store: { ...store, events }, lease: 1000, clock: own, logger })
  }
  const dead = process(manualClock(), endless(store.events))
  const { run, sessionId } = await dead.start({ principal, sessionId: 'chat', input: 'I am ann@acme.example' })
  const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId }
  await expect.poll(async () => (await store.sessions.find(key, { turnId: run }))?.endedAt).toBeDefined()
  await clock.advance(1500)
  const next = process(clock, store.events)
  open.push(next)
  await next.recover()
  const events = await eventsOf(next, run)
  expect(events.map(({ type }) => type)).not.toContain('model:reset')
  const text = events.flatMap(({ type, delta }) => (type === 'text-delta' ? [delta] : [])).join('')
  expect([text, events.at(-1)?.type]).toEqual(['You are ann@acme.example.', 'turn:end'])
})

it('reports its end although a heartbeat comes between the commit and the report', async () => {
  const { clock, store, process } = world()
  const { append } = store.sessions
  const delayed: typeof append = async (...of) => {
    await append(...of)
    await clock.advance(400)
  }
  Object.assign(store.sessions, { append: delayed })
  const runs = process(scriptedModel(['Hello.']))
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi' })
  expect((await eventsOf(runs, run)).at(-1)).toMatchObject({ type: 'turn:end', status: 'completed', turnId: run })
})

it('reports the end of a run whose sub-agent has ended before its process was lost', async () => {
  const { clock, store } = world()
  const process = (own: typeof clock, events: EventLog) => {
    const helper = new Agent({ name: 'helper', model: scriptedModel(['Found.']), clock: own, logger })
    const execute = async (_: unknown, ctx: ToolContext) => (await delegate(ctx, helper, 'Find.'))?.text
    const find = { name: 'find', description: 'Finds', jsonSchema: {}, execute }
    const model = scriptedModel([{ toolCalls: [{ name: 'find', callId: 'c1', args: {} }] }, 'Here.'])
    const agent = new Agent({ version: '1', model, tools: [find as never], clock: own, logger }).use(
      persist({ store: store.sessions }),
    )
    return durable(agent, { store: { ...store, events }, lease: 1000, clock: own, logger })
  }
  const dead = process(manualClock(), endless(store.events))
  const { run } = await dead.start({ principal, sessionId: 'chat', input: 'Hi' })
  for await (const { event } of dead.attach(run, { principal })) if (isEnd((event as Entry).event)) break
  while ((await dead.get(run, { principal })).status === 'running') await settled()
  await clock.advance(1500)
  const next = process(clock, store.events)
  open.push(next)
  await next.recover()
  const ends = (await eventsOf(next, run)).filter(isEnd)
  expect(ends.map(({ path }) => path !== undefined)).toEqual([true, false])
})

it('reports the pending calls of a run whose process was lost behind its commit', async () => {
  const { clock, store, process } = world()
  const own = manualClock()
  const dead = process(scriptedModel([call]), { own, requireApproval: true, events: endless(store.events) })
  const { run } = await dead.start({ principal, sessionId: 'chat', input: 'Pay.' })
  while ((await dead.get(run, { principal })).status === 'running') await settled()
  await clock.advance(1500)
  const next = process(scriptedModel(['Paid.']), { requireApproval: true })
  await next.recover()
  const entries: Entry[] = []
  for await (const { event } of next.attach(run, { principal })) entries.push(event as Entry)
  expect(entries.at(-1)).toMatchObject({ event: { type: 'turn:end' }, pending: [{ callId: 'c1', name: 'pay' }] })
})

it('refuses what cannot be kept, and options that it does not know', async () => {
  const { process } = world()
  const runs = process(scriptedModel([]))
  await expect(runs.start({ input: 'Hi', context: { now: () => 1 } })).rejects.toMatchObject({ code: 'run.options' })
  await expect(runs.start({ input: 'Hi', runat: 1 } as never)).rejects.toThrow('runAt')
  await expect(runs.start({})).rejects.toThrow('either "input" or "decisions"')
})

it('a run that is stopped before its turn begins is aborted', async () => {
  const { process } = world()
  const runs = process(hangs())
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi' })
  await runs.stop(run, { principal, reason: 'enough' })
  await expect.poll(async () => (await runs.get(run, { principal })).status).toBe('aborted')
  const events = await eventsOf(runs, run)
  expect(events.at(-1)).toMatchObject({ type: 'turn:end', status: 'aborted' })
})

it('stops a run, also where its process is lost before it heard', async () => {
  const { clock, process, store } = world()
  const dead = process(scriptedModel([call, { stall: true }]), { own: manualClock() })
  const { run } = await dead.start({ principal, sessionId: 'chat', input: 'Pay.' })
  await untilStep(store, run, 'tool:c1')
  await store.runs.stop({ tenant: 'acme', run }, 'enough')
  await clock.advance(1500)
  const model = scriptedModel(['Paid.'])
  const next = process(model)
  await next.recover()
  const events = await eventsOf(next, run)
  expect(model.requests).toHaveLength(0)
  expect(events.at(-1)).toMatchObject({ type: 'turn:end', status: 'aborted' })
})

it('waits for its time, and holds no session before', async () => {
  const { clock, process, store } = world()
  const runs = process(scriptedModel(['Good morning.']))
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Wake me', runAt: clock.now() + 60_000 })
  const { lease } = await store.sessions.acquire(
    { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' },
    10,
  )
  expect([lease !== undefined, (await runs.get(run, { principal })).status]).toEqual([true, 'queued'])
  await clock.advance(60_001)
  while ((await runs.get(run, { principal })).status !== 'completed') await settled()
  expect(await runs.get(run, { principal })).toMatchObject({ text: 'Good morning.' })
})

it('gives a run up that was begun five times without a new step, and takes it up again by retry()', async () => {
  const { clock, process, store } = world()
  const first = process(hangs(), { own: manualClock() })
  const { run } = await first.start({ principal, sessionId: 'chat', input: 'Hi' })
  // In its first life it records when it began.
  await untilStep(store, run, ':start')
  for (let life = 2; life <= 6; life++) {
    await clock.advance(1500)
    expect(await process(hangs(), { own: manualClock() }).recover()).toBe(1)
    await settled()
  }
  await clock.advance(1500)
  const last = process(scriptedModel(['Hello.']))
  await last.recover()
  const events = await eventsOf(last, run)
  expect(events.at(-1)).toMatchObject({ type: 'run:error', code: 'run.attempts' })
  expect(await last.get(run, { principal })).toMatchObject({ status: 'failed', code: 'run.attempts' })
  expect(await last.retry(run, { principal })).toBe(true)
})

/** Until a step of the run is recorded. */
async function untilStep(store: SqliteStore, run: string, part: string) {
  const stored = await store.runs.get({ tenant: 'acme', run })
  const lease = { key: stored?.key ?? { tenant: '', owner: '', agent: 'agent', sessionId: '' }, token: 0, version: 0 }
  for (;;) {
    if ((await store.runs.steps(lease, run)).some(({ id }) => id.includes(part))) return
    await settled()
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

it.each(['store.corrupt', 'store.sealed'] as const)(
  'gives up a run whose recorded step cannot be read (%s), and says so',
  async (code) => {
    const { clock, process, store } = world()
    const dead = process(scriptedModel([call, { stall: true }]), { own: manualClock() })
    const { run } = await dead.start({ principal, sessionId: 'chat', input: 'Pay.' })
    await untilStep(store, run, 'model:0')
    await clock.advance(1500)
    Object.assign(store.runs, { steps: () => Promise.reject(new AlliumError(code, 'The step "model:0" is damaged.')) })
    const next = process(scriptedModel([]))
    await next.recover()
    await eventsOf(next, run)
    expect(await next.get(run, { principal })).toMatchObject({ status: 'failed', code: 'journal.corrupt' })
  },
)

it('ends where a call waits, and goes on by a run of its own; a decision is used once', async () => {
  const { process, paid } = world()
  const runs = process(scriptedModel([call, 'Paid.']), { requireApproval: true })
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Pay.' })
  await eventsOf(runs, run)
  expect(await runs.get(run, { principal })).toMatchObject({ status: 'suspended' })
  const decided = { principal, sessionId: 'chat', decisions: { c1: { approve: true } } } as const
  const again = await runs.start(decided)
  await eventsOf(runs, again.run)
  expect([paid, (await runs.get(again.run, { principal })).text]).toEqual([['paid'], 'Paid.'])
  await expect(runs.start(decided)).rejects.toMatchObject({ code: 'approval.used' })
})

it('answers a provider that asked for an approval although a process died after the decision', async () => {
  const { clock, process } = world()
  const approvalRequest = { id: 'mcpr_1', provider: 'openai.responses' }
  const asks: ScriptedStep = {
    chunks: [
      { type: 'tool-input-start', callId: 'c1', name: 'mcp.pay', approvalRequest },
      { type: 'tool-input-end', callId: 'c1' },
    ],
  }
  const first = process(scriptedModel([asks]))
  const { run } = await first.start({ principal, sessionId: 'chat', input: 'Pay.' })
  await eventsOf(first, run)
  await first.drain()
  const dies = scriptedModel([{ stall: true }])
  const old = process(dies, { own: manualClock() })
  const again = await old.start({ principal, sessionId: 'chat', decisions: { c1: { approve: true } } })
  while (dies.requests.length === 0) await settled()
  await clock.advance(1500)
  const model = scriptedModel(['Paid.'])
  const next = process(model)
  await next.recover()
  await eventsOf(next, again.run)
  const answer = model.requests[0]?.messages.at(-1)?.content
  expect([answer, (await next.get(again.run, { principal })).text]).toMatchObject([[{ approved: true }], 'Paid.'])
})

it('refuses a call for which nobody decided in time, by a run of its own', async () => {
  const { clock, process, paid } = world()
  const model = scriptedModel([call, 'Nobody agreed.'])
  const runs = process(model, { requireApproval: true, expiresIn: 5000 })
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Pay.' })
  await eventsOf(runs, run)
  await clock.advance(4000)
  await runs.recover()
  expect(model.requests.length).toBe(1)
  await clock.advance(1500)
  await runs.recover()
  const { items } = await runs.list({ tenant: 'acme' })
  const denied = items.find((item) => item.run !== run)?.run ?? ''
  await eventsOf(runs, denied)
  expect([paid, (await runs.get(denied, { principal })).text]).toEqual([[], 'Nobody agreed.'])
  expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('Nobody decided in time.')
})

it('lets two decisions at once begin one run', async () => {
  const { process, paid } = world()
  const runs = process(scriptedModel([call, 'Paid.']), { requireApproval: true })
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Pay.' })
  await eventsOf(runs, run)
  const decided = { principal, sessionId: 'chat', decisions: { c1: { approve: true } } } as const
  const both = await Promise.allSettled([runs.start(decided), runs.start(decided)])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  for (const one of both) if (one.status === 'fulfilled') await eventsOf(runs, one.value.run)
  expect(paid).toEqual(['paid'])
})

it('writes nothing more where its lease was lost: the newer process has the run alone', async () => {
  const { clock, process, paid, store } = world()
  let go = () => {}
  const slow = () => new Promise((resolve) => (go = () => resolve(paid.push('late'))))
  const old = process(scriptedModel([call, 'Mine.']), { own: manualClock(), pay: slow })
  const { run } = await old.start({ principal, sessionId: 'chat', input: 'Pay.' })
  await untilStep(store, run, 'model:0')
  await clock.advance(1500)
  const next = process(scriptedModel(['Paid.']))
  await next.recover()
  await eventsOf(next, run)
  go()
  await settled()
  const { history, version } =
    (await store.sessions.load({ tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' })) ?? {}
  expect([history?.at(-1)?.content, version]).toEqual(['Paid.', 1])
})

it('ends its part in a run whose lease it could not renew in time: the store was out of reach', async () => {
  const { process, store } = world()
  const own = manualClock()
  const model = scriptedModel([{ stall: true }])
  await process(model, { own }).start({ principal, sessionId: 'chat', input: 'Hi' })
  while (model.requests.length === 0) await settled()
  Object.assign(store.runs, { renew: () => Promise.reject(new Error('No route to the store.')) })
  await own.advance(700)
  expect(model.requests[0]?.signal?.aborted).toBe(false)
  await own.advance(700)
  expect(model.requests[0]?.signal?.aborted).toBe(true)
})

it('begins no step where it stood still for longer than its lease, before it has asked whether the run is its own', async () => {
  const { process, paid } = world()
  const manual = manualClock()
  let still = 0
  let go = () => {}
  const asked = new Promise<void>((resolve) => (go = resolve))
  const model = scriptedModel([() => asked.then(() => call), 'Paid.'])
  const own = { ...manual, monotonic: () => manual.monotonic() + still }
  const runs = process(model, { own })
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Pay.' })
  while (model.requests.length === 0) await settled()
  still = 1500
  go()
  for (let i = 0; i < 50; i++) await settled()
  expect([paid, (await runs.get(run, { principal })).status]).toEqual([[], 'running'])
})

it('reads a run from its beginning, however long the log takes to listen for what is asked of it', async () => {
  const { process, store } = world()
  const { onSignal } = store.events
  const slow: typeof onSignal = async (...of) => {
    for (let i = 0; i < 50; i++) await settled()
    return onSignal(...of)
  }
  Object.assign(store.events, { onSignal: slow })
  const runs = process(scriptedModel(['Hello Ann.']))
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi' })
  const events = await eventsOf(runs, run)
  expect([events.at(-1)?.type, (await runs.get(run, { principal })).status]).toEqual(['turn:end', 'completed'])
})

it('has one life of a run: what it begins again it has lost before', async () => {
  const { clock, process, store } = world()
  const model = scriptedModel([{ stall: true }, 'Hello.'])
  const runs = process(model)
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi', idempotencyKey: 'k' })
  while (model.requests.length === 0) await settled()
  Object.assign(store.runs, { renew: () => new Promise(() => {}) })
  await clock.advance(1500)
  await eventsOf(runs, run)
  expect([model.requests[0]?.signal?.aborted, (await runs.get(run, { principal })).text]).toEqual([true, 'Hello.'])
})

it('leaves a run of another version alone, and fails it once nobody came back for it', async () => {
  const { clock, store } = world()
  const made = (version: string, own = clock) => {
    const agent = new Agent({ model: scriptedModel([{ stall: true }]), version }).use(
      persist({ store: store.sessions }),
    )
    const runs = durable(agent, {
      store,
      lease: 1000,
      clock: own,
      orphanAfter: 60_000,
      logger: { ...console, error() {} },
    })
    if (own === clock) open.push(runs)
    return runs
  }
  const { run } = await made('1', manualClock()).start({ principal, sessionId: 'chat', input: 'Hi' })
  const newer = made('2')
  await clock.advance(30_000)
  expect([await newer.recover(), (await newer.get(run, { principal })).status]).toEqual([0, 'running'])
  await clock.advance(40_000)
  while ((await newer.get(run, { principal })).status === 'running') await settled()
  expect(await newer.get(run, { principal })).toMatchObject({ status: 'failed', code: 'run.version' })
})

it('asks for the owner as they are now before it takes a run over', async () => {
  const { clock, store, process } = world()
  const dead = process(hangs(), { own: manualClock() })
  const { run } = await dead.start({ principal, sessionId: 'chat', input: 'Hi' })
  await untilStep(store, run, ':start')
  await clock.advance(1500)
  const agent = new Agent({ version: '1', model: scriptedModel([]) }).use(persist({ store: store.sessions }))
  const asked: unknown[] = []
  const resolvePrincipal = (key: unknown) => void asked.push(key)
  const next = durable(agent, { store, lease: 1000, clock, resolvePrincipal, logger: { ...console, error() {} } })
  open.push(next)
  await next.recover()
  while ((await next.get(run, { principal })).status === 'running') await settled()
  expect(asked).toEqual([{ tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }])
  expect(await next.get(run, { principal })).toMatchObject({ status: 'failed', code: 'run.principal' })
})

it('executes as many runs at once as its concurrency allows, and the next as soon as one has ended', async () => {
  const { clock, store } = world()
  const ends: (() => void)[] = []
  const model = scriptedModel(
    Array.from({ length: 5 }, () => () => new Promise<string>((resolve) => ends.push(() => resolve('Done.')))),
  )
  const agent = new Agent({ version: '1', model, clock }).use(persist({ store: store.sessions }))
  const runs = durable(agent, { store, lease: 1000, clock, concurrency: 2, logger })
  open.push(runs)
  const started = [1, 2, 3, 4, 5].map((n) => runs.start({ principal, sessionId: `chat-${n}`, input: 'Hi' }))
  await Promise.all(started)
  for (let ended = 0; ended < 5; ended++) {
    while (ends.length === ended) await settled()
    for (let i = 0; i < 20; i++) await settled()
    expect(ends.length).toBe(Math.min(5, ended + 2))
    ends[ended]?.()
  }
  for (const { run } of await Promise.all(started)) await eventsOf(runs, run)
  expect((await runs.list({ tenant: 'acme', status: 'completed' })).items).toHaveLength(5)
})

it('starts a run that waited for its session as soon as that is free', async () => {
  const { process } = world()
  const runs = process(scriptedModel(['One.', 'Two.']))
  const [first, second] = [
    await runs.start({ principal, sessionId: 'chat', input: 'a' }),
    await runs.start({ principal, sessionId: 'chat', input: 'b' }),
  ]
  await eventsOf(runs, first.run)
  while ((await runs.get(second.run, { principal })).status !== 'completed') await settled()
  expect((await runs.get(second.run, { principal })).text).toBe('Two.')
})

it('asks for the owner when a run starts later than its request', async () => {
  const { clock, store } = world()
  const agent = new Agent({ version: '1', model: scriptedModel([]), clock }).use(persist({ store: store.sessions }))
  const runs = durable(agent, { store, lease: 1000, clock, resolvePrincipal: () => undefined, logger })
  open.push(runs)
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi', runAt: clock.now() + 5000 })
  await clock.advance(6000)
  while ((await runs.get(run, { principal })).status !== 'failed') await settled()
  expect(await runs.get(run, { principal })).toMatchObject({ code: 'run.principal' })
})

it('asks for the owner again where it takes up a run that it had lost itself, and not before', async () => {
  const { clock, store } = world()
  const model = scriptedModel([{ stall: true }, 'Hello.'])
  const agent = new Agent({ version: '1', model, clock }).use(persist({ store: store.sessions }))
  const asked: unknown[] = []
  const resolvePrincipal = (key: unknown) => {
    asked.push(key)
    return principal
  }
  const runs = durable(agent, { store, lease: 1000, clock, resolvePrincipal, logger: { ...console, warn() {} } })
  open.push(runs)
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi' })
  while (model.requests.length === 0) await settled()
  expect(asked).toEqual([])
  Object.assign(store.runs, { renew: () => new Promise(() => {}) })
  await clock.advance(1500)
  await eventsOf(runs, run)
  expect([asked.length, (await runs.get(run, { principal })).text]).toEqual([1, 'Hello.'])
})

it('needs an agent that keeps its sessions, and a store that encrypts where a layer redacts', () => {
  const { store } = world()
  expect(() => durable(new Agent({ model: 'x' }), { store })).toThrow(
    'Give "agent" a version that names the build, such as new Agent({ version: \'1.4\' })',
  )
  expect(() => durable(new Agent({ version: '1', model: 'x' }), { store })).toThrow('memory.persist')
  const redacting = new Agent({ version: '1', model: 'x' }).use(persist({ store: store.sessions })).use({
    name: 'pii',
    order: { is: ['redacts'] },
    turn: (_ctx, next) => next(),
  })
  expect(() => durable(redacting, { store })).toThrow('"encrypt"')
})

it('aborts a run that is stopped before its turn begins', async () => {
  const { process } = world()
  const runs = process(hangs())
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Hi' })
  await runs.stop(run, { principal, reason: 'too late' })
  expect((await eventsOf(runs, run)).at(-1)).toMatchObject({ type: 'turn:end', status: 'aborted' })
  expect((await runs.get(run, { principal })).status).toBe('aborted')
})
