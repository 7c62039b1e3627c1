import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { durable } from '@allium/durable'
import { sqlite } from '@allium/store-sqlite'
import { Agent } from 'allium'
import { manualClock, scriptedModel } from 'allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { main } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const call = { toolCalls: [{ name: 'pay', callId: 'c1', args: {} }] }

/** A folder with the module of version 2, and a store with a run of version 1 that has paid and whose process is lost. */
async function scene({ layer = '', isLost = true } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'allium-migrate-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const [file, clock] = [join(root, 'runs.db'), manualClock()]
  const store = sqlite(file, { clock: isLost ? clock : undefined })
  onTestFinished(() => store.close())
  const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, execute: () => 'paid' }
  const model = scriptedModel([call, { stall: true }])
  const agent = new Agent({ name: 'desk', version: '1', model, tools: [pay as never], store })
  const { run } = await durable(agent, { store, clock, lease: 600_000 }).start({
    principal,
    sessionId: 'chat',
    input: 'Pay.',
  })
  const steps = async () => (await store.operations.describe({ tenant: 'acme', run, limit: 100 }))?.timeline.length
  await expect.poll(steps).toBe(5)
  const packages = { allium: import.meta.resolve('allium'), sqlite: import.meta.resolve('@allium/store-sqlite') }
  writeFileSync(
    join(root, 'agent.mjs'),
    `import { Agent } from ${JSON.stringify(packages.allium)}
import { sqlite } from ${JSON.stringify(packages.sqlite)}
export const store = sqlite(${JSON.stringify(file)})
const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, execute: () => { throw new Error('It was paid.') } }
const model = { id: 'scripted/model', stream() { throw new Error('It was asked.') } }
export default new Agent({ name: 'desk', version: '2', model, tools: [pay], store })${layer}
export const none = 1
`,
  )
  const row = () => store.runs.get({ tenant: 'acme', run })
  return { root, run, row, store }
}

async function migrate(root: string, run: string, ...argv: string[]) {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const around = Object.assign(new EventEmitter(), streams, { env: {}, cwd: () => root })
  const command = ['runs', 'migrate', run, '--module', 'agent.mjs', ...argv]
  const code = await main(command, around as unknown as Parameters<typeof main>[1])
  for (const stream of [streams.stdout, streams.stderr]) stream.end()
  return { code, out: await text(streams.stdout), err: await text(streams.stderr) }
}

it('with --dry-run tells that a run fits, and changes nothing', async () => {
  const { root, run, row } = await scene()
  const before = await row()
  const { code, out } = await migrate(root, run, '--to', '2', '--dry-run')
  expect([code, out]).toEqual([
    0,
    'The run fits the version "2": 3 of 3 recorded steps were replayed. Nothing was changed.\n',
  ])
  expect(await row()).toEqual(before)
})

it('moves a run that fits, and records the operator', async () => {
  const { root, run, row, store } = await scene()
  const { code, out } = await migrate(root, run, '--to', '2', '--operator', 'dana', '--reason', 'ticket 7', '--json')
  expect([code, JSON.parse(out)]).toEqual([0, { run, fits: true, replayed: 3, recorded: 3, moved: true }])
  expect(await row()).toMatchObject({ version: '2', status: 'running' })
  const record = JSON.parse((await store.audit.chainOf('acme').last()) ?? '')
  expect(record).toMatchObject({ type: 'operator:migrate', operator: 'dana', reason: 'ticket 7', turn: run })
})

it('names the step of a run that does not fit, and changes nothing', async () => {
  const layer = `.use({ name: 'policy', tool: (ctx) => ctx.deny('Not today.') })`
  const { root, run, row } = await scene({ layer })
  const before = await row()
  const { code, out } = await migrate(root, run, '--to', '2')
  expect([code, out]).toEqual([1, expect.stringContaining(':tool:c1:1" is recorded, but the current code does not')])
  expect(await row()).toEqual(before)
})

it('does not move a run that a process is executing', async () => {
  const { root, run, row } = await scene({ isLost: false })
  const { code, out } = await migrate(root, run, '--to', '2')
  expect([code, out]).toEqual([1, expect.stringContaining('a process is executing it')])
  expect(await row()).toMatchObject({ version: '1' })
})

it.each([
  [['--to', '3'], 2, 'This process has the version "2", not "3"'],
  [[], 2, '--to <version>'],
  [['--to', '2', '--export', 'none'], 2, 'exports no agent as "none"'],
  [['--to', '2', '--module', 'typo.mjs'], 2, 'There is no module'],
  [['--to', '2', '--tenant', 'globex'], 1, 'There is no run'],
])('reports a mistake in %j', async (argv, exit, message) => {
  const { root, run } = await scene()
  const { code, err } = await migrate(root, run, ...argv)
  expect([code, err]).toEqual([exit, expect.stringContaining(message)])
})
