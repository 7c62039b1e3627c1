import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sqlite } from '@allium/store-sqlite'
import { scriptedModel } from 'allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { allium } from '../allium.ts'
import { supportAgent } from './agent.ts'

const module = fileURLToPath(new URL('./agent.ts', import.meta.url))

/** A file with a recorded turn of each tenant, which refunds 50 and 500. */
async function recordedStore(...tenants: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'allium-backtest-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'chats.db')
  const store = sqlite(path)
  for (const tenantId of tenants) {
    const toolCalls = [50, 500].map((amount) => ({ name: 'refund', args: { amount } }))
    const agent = supportAgent({ model: scriptedModel([{ toolCalls }, 'done']), store })
    await agent.session({ id: 'chat', principal: { tenantId, userId: 'dana' } }).run('Refund it')
    await agent.dispose()
  }
  store.close()
  return path
}

const backtest = (...argv: string[]) => allium('backtest', module, ...argv)

it('prints the changes by layer with reason and tenants, and the changed calls', async () => {
  const { code, out } = await backtest('--store', await recordedStore('acme', 'other'), '--since', '30d')
  expect(code).toBe(0)
  expect(out.split('\n').map((line) => line.split(/ {2,}/).slice(0, 6))).toEqual([
    ['support (version 2): 4 calls of 2 turns judged, 2 unchanged.'],
    [''],
    ['CHANGE', 'CALLS', 'AFTER A CHANGED CALL', 'LAYER', 'REASON', 'TENANTS'],
    ['newly denied', '2', '0', 'guard:policy', 'above 100', 'acme 1, other 1'],
    [''],
    ['CHANGE', 'BEFORE', 'TOOL', 'LAYER', 'TENANT', 'OWNER'],
    ['newly denied', 'allowed', 'refund', 'guard:policy', 'acme', 'dana'],
    ['newly denied', 'allowed', 'refund', 'guard:policy', 'other', 'dana'],
    [''],
    ['"guard:policy" decided without its model hook. Replay these turns to be sure.'],
    [''],
  ])
})

it('prints the report as JSON, of one tenant', async () => {
  const { out } = await backtest('--store', await recordedStore('acme', 'other'), '--tenant', 'other', '--json')
  expect(JSON.parse(out)).toMatchObject({
    type: 'backtest',
    calls: { judged: 2, newlyDenied: 1 },
    changes: [{ tenant: 'other', principal: { tenantId: 'other', userId: 'dana' }, reason: 'above 100' }],
  })
})

it('fails with exit code 1 above --max-new-denials, and if no call could be judged', async () => {
  const path = await recordedStore('acme', 'other')
  const codes = [
    await backtest('--store', path, '--max-new-denials', '2'),
    await backtest('--store', path, '--max-new-denials', '1'),
    await backtest('--store', path, '--export', 'unchanged', '--max-new-denials', '0'),
    await backtest('--store', path, '--until', '2001-01-01', '--max-new-denials', '0'),
  ]
  expect(codes.map(({ code }) => code)).toEqual([0, 1, 0, 1])
  expect(codes.map(({ out }) => out.includes('No recording matches.'))).toEqual([false, false, false, true])
})

it.each([
  [['backtest'], 'takes the module of one agent'],
  [['backtest', module], 'Name the store'],
  [['backtest', module, '--since', 'soon'], '--since is "soon"'],
  [['backtest', module, '--max-new-denials', '-1'], '--max-new-denials'],
  [['backtest', module, '--limit', '0'], '--limit is "0"'],
  [['backtest', '/nowhere.ts', '--store', 'x.db'], 'There is no module'],
])('reports a mistake in %j', async (argv, told) => {
  const { code, out, err } = await allium(...argv)
  expect([code, (out + err).includes(told)]).toEqual([2, true])
})

it('shows its help', async () => {
  const { code, out } = await allium('backtest', '--help')
  expect([code, out.includes('--max-new-denials <n>')]).toEqual([0, true])
})
