import { Agent, type Model } from '@allium/core'
import { persist } from '@allium/memory'
import { recordStepValue } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { FailingSeals } from '../../testing/src/conformance/sealed/failing-seals.ts'
import { type Durable, durable } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const agents = [{ name: 'agent', version: '1' }]
const lease = 1000
const many = (answer: ScriptedStep, count = 200) => scriptedModel(Array.from({ length: count }, () => answer))

/** Processes on one store, whose keys can be lost. */
function world() {
  const clock = manualClock(1_000_000)
  const seals = new FailingSeals()
  const store = sqlite(':memory:', { clock, encrypt: seals })
  const process = (model: Model = many('Done.'), options: { retention?: number; orphanAfter?: number } = {}) => {
    const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, execute: () => 'paid', requireApproval: true }
    const look = { name: 'look', description: 'Looks', jsonSchema: {}, execute: () => 'seen' }
    const agent = new Agent({
      version: '1',
      model,
      clock,
      tools: [pay, look] as never[],
      approvals: { expiresIn: 3000 },
    }).use(persist({ store: store.sessions }))
    const logger = { warn() {}, error() {} }
    const runs = durable(agent, { store, lease, clock, logger, ...options })
    onTestFinished(async () => {
      const drained = runs.drain({ timeout: 1 })
      await clock.advance(2)
      await drained
    })
    return runs
  }
  /** Adds a run that no process has claimed. */
  const add = (run: string, more: { version?: string; input?: string; runAt?: number } = {}) => {
    const { version = '1', input = run, runAt } = more
    const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: run }
    return store.runs.add({ run, key, agent: 'agent', version, task: { principal, input }, runAt })
  }
  /** Adds runs whose process was lost three times, after they recorded only their start. */
  const addSuspects = async (...ids: readonly string[]) => {
    for (const run of ids) await add(run)
    for (let crash = 0; crash < 3; crash++) {
      for (const { run, lease } of await store.runs.claim({ agents, limit: 50, ms: 1, alone: true }))
        if (crash === 0)
          await recordStepValue(
            () => clock.now(),
            () => {},
            (body) => store.runs.record(lease, run.run, { id: `${run.run}:start`, body }),
          )
      await clock.advance(2)
    }
  }
  return { clock, seals, store, process, add, addSuspects }
}

async function statusesOf(runs: Durable, ids: readonly string[]) {
  const { items } = await runs.list({ tenant: 'acme', limit: 500 })
  return ids.map((id) => items.find(({ run }) => run === id)?.status)
}

const eventually = { timeout: 15_000 }
const all = (count: number, status: string) => Array.from({ length: count }, () => status)
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`)

it('starts the other runs first, even those that were added later', async () => {
  const { process, add, addSuspects } = world()
  await addSuspects(...names('suspect', 3))
  for (const run of names('run', 20)) await add(run)
  const model = many('Done.')
  const runs = process(model)
  await runs.recover()
  await expect.poll(() => statusesOf(runs, names('run', 20)), eventually).toEqual(all(20, 'completed'))
  const suspects = () => runs.recover().then(() => statusesOf(runs, names('suspect', 3)))
  await expect.poll(suspects, eventually).toEqual(all(3, 'completed'))
  const asked = model.requests.map(({ messages }) => String(messages[0]?.content))
  expect(asked.slice(-3)).toEqual(names('suspect', 3))
})

it('starts no other run beside a suspected run, until that run has recorded a step', async () => {
  const { process, add, addSuspects } = world()
  await addSuspects('suspect')
  let answer = () => {}
  const call = { toolCalls: [{ name: 'look', callId: 'c1', args: {} }] }
  const first = () => new Promise<typeof call>((resolve) => (answer = () => resolve(call)))
  const next: ScriptedStep = ({ messages }) => (messages[0]?.content === 'suspect' ? { stall: true } : 'Done.')
  const model = scriptedModel([first, next, next])
  const runs = process(model)
  await runs.recover()
  await expect.poll(() => model.requests.length, eventually).toBe(1)
  await add('run')
  await runs.recover()
  expect(await statusesOf(runs, ['suspect', 'run'])).toEqual(['running', 'queued'])
  answer()
  await expect.poll(() => statusesOf(runs, ['suspect', 'run']), eventually).toEqual(['running', 'completed'])
})

it('starts the other runs after one lease, if the suspected run hangs', async () => {
  const { clock, process, add, addSuspects } = world()
  await addSuspects('suspect')
  const runs = process(scriptedModel([{ stall: true }, ...Array.from({ length: 20 }, () => 'Done.')]))
  await runs.recover()
  for (const run of names('run', 20)) await add(run)
  await clock.advance(lease / 2)
  expect(await statusesOf(runs, names('run', 20))).toEqual(all(20, 'queued'))
  await clock.advance(lease)
  await expect.poll(() => statusesOf(runs, names('run', 20)), eventually).toEqual(all(20, 'completed'))
  expect(await statusesOf(runs, ['suspect'])).toEqual(['running'])
})

it('starts a suspected run also in a process that is never idle, and goes on with the other runs', async () => {
  const { clock, process, add, addSuspects } = world()
  const runs = process(scriptedModel([{ stall: true }, { stall: true }, 'Done.']))
  await add('long')
  await runs.recover()
  await addSuspects('suspect')
  await clock.advance(3 * lease)
  expect(await statusesOf(runs, ['long', 'suspect'])).toEqual(['running', 'running'])
  await clock.advance(5 * lease)
  await add('run')
  await runs.recover()
  await expect
    .poll(() => statusesOf(runs, ['long', 'suspect', 'run']), eventually)
    .toEqual([...['running', 'running', 'completed']])
})

it('gives up runs whose key was lost, and executes all others', async () => {
  const { seals, process, add } = world()
  for (const run of names('lost', 120)) await add(run)
  for (const run of names('run', 5)) await add(run)
  Object.assign(seals, { failure: 'gone', rows: (row: string) => row.includes('"lost') })
  const runs = process()
  await runs.recover()
  await expect.poll(() => statusesOf(runs, names('run', 5)), eventually).toEqual(all(5, 'completed'))
  await expect.poll(() => statusesOf(runs, names('lost', 120)), eventually).toEqual(all(120, 'failed'))
  const { items } = await runs.list({ tenant: 'acme', status: 'failed', code: 'store.sealed' })
  expect(items[0]).toMatchObject({ code: 'store.sealed', reason: expect.stringContaining('cannot be read') })
})

it('executes runs behind those of a key service that does not answer, and those once it does', async () => {
  const { clock, seals, process, add } = world()
  for (const run of names('down', 120)) await add(run)
  await add('run')
  Object.assign(seals, { failure: 'down', rows: (row: string) => row.includes('"down') })
  const runs = process()
  await runs.recover()
  await expect.poll(() => statusesOf(runs, ['run', 'down0']), eventually).toEqual(['completed', 'running'])
  seals.failure = undefined
  await clock.advance(2 * lease)
  await expect.poll(() => statusesOf(runs, names('down', 120)), eventually).toEqual(all(120, 'completed'))
})

it('denies calls in time, and deletes old runs, while other rows cannot be read', async () => {
  const { clock, seals, store, process, add } = world()
  const call: ScriptedStep = { toolCalls: [{ name: 'pay', callId: 'c1', args: {} }] }
  const model = scriptedModel([...Array.from({ length: 56 }, () => call), 'Denied.'])
  const runs = process(model, { retention: 8000 })
  for (const run of [...names('lost', 55), 'late']) await add(run)
  await runs.recover()
  await expect.poll(() => statusesOf(runs, [...names('lost', 55), 'late']), eventually).toEqual(all(56, 'suspended'))
  Object.assign(seals, { failure: 'gone', rows: (row: string) => row.includes('"lost') })
  await clock.advance(3500)
  await expect.poll(async () => (await store.sessions.load({ ...keyOf('late') }))?.version, eventually).toBe(2)
  await clock.advance(9000)
  await expect.poll(() => runs.recover().then(() => statusesOf(runs, ['late'])), eventually).toEqual([undefined])
})

it('gives up a run whose session can never be read, with the reason', async () => {
  const { seals, process, add } = world()
  const runs = process()
  await add('first')
  await runs.recover()
  await expect.poll(() => statusesOf(runs, ['first']), eventually).toEqual(['completed'])
  Object.assign(seals, { failure: 'gone', rows: (row: string) => row.includes('"session"') || row.includes('"turn"') })
  const { run } = await runs.start({ principal, sessionId: 'first', input: 'Hi' })
  await expect.poll(() => statusesOf(runs, [run]), eventually).toEqual(['failed'])
  expect((await runs.list({ tenant: 'acme', code: 'store.sealed' })).items).toHaveLength(1)
})

it('does not let a run that cannot be started keep others from starting, and gives it up', async () => {
  const { clock, store, process, add } = world()
  for (const run of ['broken', 'run']) await add(run)
  const { append } = store.events
  Object.assign(store.events, {
    append: (...args: Parameters<typeof append>) =>
      args[0].turnId === 'broken' ? Promise.reject(new Error('The log is broken.')) : append(...args),
  })
  const runs = process()
  await runs.recover().catch(() => {})
  await expect.poll(() => statusesOf(runs, ['run']), eventually).toEqual(['completed'])
  await clock.advance(20 * lease)
  await expect.poll(() => statusesOf(runs, ['broken']), eventually).toEqual(['failed'])
})

it.each([
  ['too many crashes', 'run.attempts'],
  ['a version of which no process is left', 'run.version'],
  ['a lost key', 'store.sealed'],
])('frees the session of a run that was given up because of %s', async (_, code) => {
  const { clock, seals, store, process, add } = world()
  await add('dead', code === 'run.version' ? { version: 'old' } : {})
  if (code === 'run.attempts')
    for (let crash = 0; crash < 5; crash++) {
      await store.runs.claim({ agents, limit: 1, ms: 1, alone: true })
      await clock.advance(2)
    }
  if (code === 'store.sealed') Object.assign(seals, { failure: 'gone', rows: (row: string) => row.includes('"run"') })
  const runs = process(undefined, { orphanAfter: 5 * lease })
  await clock.advance(6 * lease)
  await expect.poll(() => statusesOf(runs, ['dead']), eventually).toEqual(['failed'])
  seals.failure = undefined
  const { run } = await runs.start({ principal, sessionId: 'dead', input: 'Hi', onBusy: 'reject' })
  await expect.poll(() => statusesOf(runs, [run]), eventually).toEqual(['completed'])
  expect((await runs.list({ tenant: 'acme', code })).items.map((item) => [item.run, item.code])).toEqual([
    ['dead', code],
  ])
})

it.each([
  [
    'its session has changed since',
    async (runs: Durable) => void (await runs.start({ principal, sessionId: 'dead', input: 'Hi' })),
  ],
  ['it is completed', async () => {}],
])('says why a run cannot be retried: %s', async (reason, goOn) => {
  const { seals, process, add } = world()
  const runs = process()
  await add('dead')
  if (reason.includes('session'))
    Object.assign(seals, { failure: 'gone', rows: (row: string) => row.includes('"task"') })
  await runs.recover()
  await expect.poll(() => statusesOf(runs, ['dead']), eventually).not.toEqual(['running'])
  seals.failure = undefined
  await goOn(runs)
  expect(await runs.retry('dead', { principal })).toBe(false)
  await expect(runs.retry('dead', { principal, orThrow: true })).rejects.toMatchObject({
    code: 'store.conflict',
    message: expect.stringContaining(reason),
  })
})

it('continues a dead letter once its key is back', async () => {
  const { seals, process, add } = world()
  const runs = process()
  await add('dead')
  Object.assign(seals, { failure: 'gone', rows: (row: string) => row.includes('"task"') })
  await runs.recover()
  await expect.poll(() => statusesOf(runs, ['dead']), eventually).toEqual(['failed'])
  seals.failure = undefined
  expect(await runs.retry('dead', { principal })).toBe(true)
  await expect.poll(() => statusesOf(runs, ['dead']), eventually).toEqual(['completed'])
})

it('ends the stream of a reader whose run was given up', async () => {
  const { clock, seals, process, add } = world()
  const runs = process()
  await add('dead', { runAt: clock.now() + 1500 })
  const types: string[] = []
  let ended = false
  const read = async () => {
    for await (const { event } of runs.attach('dead', { principal })) {
      const { type, code = '' } = (event as { event: { type: string; code?: string } }).event
      types.push(`${type} ${code}`)
    }
    ended = true
  }
  const reading = read()
  Object.assign(seals, { failure: 'gone', rows: (row: string) => row.includes('"task"') })
  await expect.poll(() => clock.advance(lease / 10).then(() => ended), eventually).toBe(true)
  await reading
  expect(types).toEqual(['turn:end ', 'run:error store.sealed'])
})

function keyOf(sessionId: string) {
  return { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId }
}
