import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { record } from '@allium/replay'
import { sqlite } from '@allium/store-sqlite'
import { Agent } from 'allium'
import { scriptedModel } from 'allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { allium } from './allium.ts'

const pay = { name: 'pay', description: 'Pays', jsonSchema: { type: 'object' }, execute: () => 'paid' }

/** A file with two recorded turns of a session, and a module that exports the agent with other layers. */
async function recorded(layers = '') {
  const folder = mkdtempSync(join(tmpdir(), 'allium-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'store.db')
  const store = sqlite(path)
  const steps = [{ toolCalls: [{ name: 'pay', callId: 'c1', args: { amount: 5 } }] }, 'Paid.', 'Hello.']
  const agent = new Agent({ name: 'shop', model: scriptedModel(steps), tools: [pay], store }).use(record())
  const session = agent.session({ id: 'chat', principal: { tenantId: 'acme', userId: 'dana' } })
  await session.run('pay', { turnId: 'first' })
  await session.run('hi', { turnId: 'second' })
  await agent.dispose()
  store.close()
  const module = join(folder, 'agent.mjs')
  writeFileSync(module, moduleText(layers))
  return ['replay', module, '--store', path]
}

const moduleText = (layers: string) => `
import { Agent } from ${JSON.stringify(import.meta.resolve('allium'))}
const model = { id: 'scripted/model', async *stream() { throw new Error('a model was called') } }
const pay = { name: 'pay', description: 'Pays', jsonSchema: { type: 'object' }, execute() { throw new Error('a tool ran') } }
export default () => new Agent({ name: 'shop', model, tools: [pay] }).use([${layers}])
`
const denies = `{ name: 'denies', tool: (ctx) => ctx.deny('not today') }`

it('shows that an unchanged agent does the same, and exits with 0', async () => {
  const { code, out, err } = await allium(...(await recorded()))
  expect(err).toBe('')
  expect(out).toContain('2 turns replayed (pinned): 2 the same, 0 with differences.')
  expect(code).toBe(0)
})

it('lists the turns that differ by layer, and exits with 1 above --max-differences', async () => {
  const argv = await recorded(denies)
  const { code, out } = await allium(...argv)
  expect(out).toMatch(/1 with differences/)
  expect(out).toMatch(/denies +1/)
  expect(out).toMatch(/first +chat +tool c1/)
  expect(code).toBe(1)
  expect((await allium(...argv, '--max-differences', '1')).code).toBe(0)
})

it('shows one turn in two lanes, and where they part', async () => {
  const { out } = await allium(...(await recorded(denies)), '--turn', 'first')
  const rows = out.split('\n').map((line) => line.split(/ {2,}/))
  expect(rows).toContainEqual(['!', 'tool c1', 'ok: paid', 'denies denied: not today', '<- diverged here'])
  expect(rows).toContainEqual(['', 'end', 'completed: Paid.', 'completed: Paid.'])
})

it('leaves out a layer, and prints JSON', async () => {
  const { code, out } = await allium(...(await recorded(denies)), '--without', 'denies', '--mode', 'exact', '--json')
  expect(JSON.parse(out)).toMatchObject({ type: 'replay', mode: 'exact', replayed: 2, same: 2, notReplayable: {} })
  expect(code).toBe(0)
})

it('says that no recording matches, and exits with 1', async () => {
  const { code, out } = await allium(...(await recorded()), '--since', '2001-01-01T10:00Z', '--agent', 'other')
  expect([code, out]).toEqual([1, expect.stringContaining('No recording matches. Check --store, --agent')])
})

it.each([
  [['replay'], 'allium replay src/agent.ts'],
  [['replay', 'x.ts', '--mode', 'loose'], '--mode is "loose"'],
  [['replay', 'x.ts', '--max-differences', '-1'], '--max-differences'],
  [['replay', 'x.ts', '--since', 'soon'], '--since is "soon"'],
  [['replay', 'x.ts', '--until', '2026-02-31'], '--until is "2026-02-31"'],
  [['replay', 'x.ts', '--since', '2026-02-01 (now)'], '--since is "2026-02-01 (now)"'],
])('reports a mistake in %j', async (argv, told) => {
  const { code, err } = await allium(...argv)
  expect(err).toContain(told)
  expect(code).toBe(2)
})

it('reports a turn that is not recorded, and a layer that does not exist', async () => {
  const argv = await recorded()
  expect((await allium(...argv, '--turn', 'third')).err).toContain('no recording of the turn "third"')
  expect((await allium(...argv, '--without', 'nope')).err).toContain('names the layer "nope"')
})
