import { Agent, type Middleware } from '@allium/core'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { durable } from '../src/index.ts'
import { type OperationsOptions, operations } from '../src/operations.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const call = { toolCalls: [{ name: 'pay', callId: 'c1', args: {} }] }
const logger = { warn() {}, error() {} }
type Named = Middleware & { name: string }
const trace: Named = { name: 'trace', tool: (_, next) => next() }
const policy: Named = { name: 'policy', tool: (ctx) => ctx.deny('Not today.') as never }
const broken: Named = {
  name: 'broken',
  turn() {
    throw new TypeError('my secret')
  },
}

/** A run of version 1 that has paid. Its process is lost in the next model call. */
async function scene() {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const build = (version: string, layers: Named[] = []) => {
    const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, execute: () => 'paid' }
    const model = scriptedModel(version === '1' ? [call, { stall: true }] : [])
    const options = { name: 'desk', version, model, tools: [pay as never], logger }
    const agent = new Agent(options).use(persist({ store: store.sessions }))
    for (const layer of layers) agent.use(layer)
    return agent
  }
  const lost = durable(build('1'), { store, lease: 1000, clock: manualClock(), logger })
  const { run } = await lost.start({ principal, sessionId: 'chat', input: 'Pay.' })
  const ops = (options: Partial<OperationsOptions> = {}) => operations({ store, clock, ...options })
  const timeline = async () => (await ops().show(run)).timeline.length
  await expect.poll(timeline).toBe(5)
  await clock.advance(1500)
  const row = () => store.runs.get({ tenant: 'acme', run })
  return { run, build, ops, row, store }
}

it('moves a run of any owner to an agent that fits, and records the operator', async () => {
  const { run, build, ops, row, store } = await scene()
  const by = { operator: 'dana', reason: 'ticket 7' }
  const moved = await ops({ agents: [build('2', [trace])] }).migrate(run, { to: '2', ...by })
  expect(moved).toEqual({ fits: true, replayed: 3, recorded: 3, moved: true })
  expect(await row()).toMatchObject({ version: '2' })
  const record = JSON.parse((await store.audit.chainOf('acme').last()) ?? '')
  expect(record).toMatchObject({ type: 'operator:migrate', turn: run, ...by })
})

it('with dryRun: true leaves the run as it is, and records nothing', async () => {
  const { run, build, ops, row, store } = await scene()
  const before = await row()
  const options = { to: '2', dryRun: true, operator: 'dana' }
  expect(await ops({ agents: [build('2')] }).migrate(run, options)).toMatchObject({ fits: true, moved: false })
  expect([await row(), await store.audit.chainOf('acme').last()]).toEqual([before, undefined])
})

it('names the step that does not fit, and leaves the run as it is', async () => {
  const { run, build, ops, row, store } = await scene()
  const before = await row()
  const next = ops({ agents: [build('2', [policy])] })
  const { fits, moved, reason } = await next.migrate(run, { to: '2', operator: 'dana' })
  expect([fits, moved]).toEqual([false, false])
  expect(reason).toContain(':tool:c1:1" is recorded, but the current code does not request it')
  expect([await row(), await store.audit.chainOf('acme').last()]).toEqual([before, undefined])
})

it('does not repeat what an error of the code says, because that may be content', async () => {
  const { run, build, ops } = await scene()
  const { reason } = await ops({ agents: [build('2', [broken])] }).migrate(run, { to: '2' })
  expect(reason).toContain(':model:0:1" is recorded, but the current code does not request it')
  expect(reason).not.toContain('secret')
})

it('uses the current principal of the owner', async () => {
  const { run, build, ops } = await scene()
  const options = { agents: [build('2')], resolvePrincipal: () => undefined }
  const { fits, reason } = await ops(options).migrate(run, { to: '2' })
  expect([fits, reason]).toEqual([false, 'The principal of the run no longer exists.'])
})

it.each([
  ['another version', '3', 'run.version', 'This process has the version "2"'],
  ['no version', '', 'run.options', 'The version must be a text'],
])('rejects %s', async (_, to, code, message) => {
  const { run, build, ops } = await scene()
  const attempt = ops({ agents: [build('2')] }).migrate(run, { to })
  await expect(attempt).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
})

it('needs the code of the agent that the run belongs to', async () => {
  const { run, ops } = await scene()
  const attempt = ops().migrate(run, { to: '2' })
  const message = expect.stringContaining('Pass the agent of the new version to operations(), in agents.')
  await expect(attempt).rejects.toMatchObject({ code: 'run.options', message })
})

it('does not find runs of other tenants', async () => {
  const { run, build, ops } = await scene()
  const attempt = ops({ agents: [build('2')] })
    .within(['globex'])
    .migrate(run, { to: '2' })
  await expect(attempt).rejects.toMatchObject({ code: 'session.not_found' })
})
