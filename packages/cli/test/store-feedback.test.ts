import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@allium/store-sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { allium } from './allium.ts'

/** A file with three pieces of feedback for acme, and one for a tenant whose name a terminal would interpret. */
async function fileWithFeedback() {
  const folder = mkdtempSync(join(tmpdir(), 'allium-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'store.db')
  const store = sqlite(path)
  const at = Date.now() - 9 * 86_400_000
  for (const [i, [tenant, score]] of (
    [
      ['acme', 1],
      ['acme', 0],
      ['acme', 0],
      ['\u001b[2J', 1],
    ] as const
  ).entries()) {
    const key = { tenant, owner: 'ann', agent: 'agent', sessionId: 'chat' }
    await store.feedback.put({ run: { key, turnId: `turn ${i}` }, by: 'ann', score, comment: 'secret', at })
  }
  store.close()
  return path
}

it('shows the feedback of each tenant and agent, without comments', async () => {
  const path = await fileWithFeedback()
  const { code, out } = await allium('store', 'feedback', '--store', path)
  expect(code).toBe(0)
  expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['tenant', 'agent', 'feedback', 'up', 'down', 'mean', 'latest'],
    ['\\u{1b}[2J', 'agent', '1', '1', '0', '1.00', '9d'],
    ['acme', 'agent', '3', '1', '2', '0.33', '9d'],
    [''],
  ])
})

it('shows that of one tenant as JSON', async () => {
  const path = await fileWithFeedback()
  const { out } = await allium('store', 'feedback', '--store', path, '--tenant', 'acme', '--json')
  expect(JSON.parse(out)).toMatchObject({ feedback: [{ tenant: 'acme', agent: 'agent', count: 3, up: 1, down: 2 }] })
})

it.each([
  [['store', 'feedback'], 'Name the store'],
  [['store', 'feedback', '--store', '/nowhere.db'], 'There is no store /nowhere.db'],
  [['store', 'feedback', '--schema', 'a', '--store', 'x'], '--schema'],
])('reports a mistake in %j', async (argv, told) => {
  const { code, out, err } = await allium(...argv)
  expect([code, (out + err).includes(told)]).toEqual([2, true])
})
