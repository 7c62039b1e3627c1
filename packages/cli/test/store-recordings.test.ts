import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@allium/store-sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { allium } from './allium.ts'

const day = 86_400_000

/** A file with two recordings of acme, and one without a tenant whose name a terminal would interpret. */
async function fileWithRecordings() {
  const folder = mkdtempSync(join(tmpdir(), 'allium-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'store.db')
  const store = sqlite(path)
  const now = Date.now()
  for (const [i, [tenant, content, age]] of [
    ['acme', 'x'.repeat(1500), 3],
    ['acme', 'y'.repeat(500), 9],
    ['\u001b[2J', 'z', 0],
  ].entries() as Iterable<[number, [string, string, number]]>) {
    const key = { tenant, owner: 'ann', agent: 'agent', sessionId: 'chat' }
    await store.recordings.add({
      ...{ key, turnId: `turn ${i}`, content },
      ...{ startedAt: now - age * day, expiresAt: now + day },
    })
  }
  store.close()
  return path
}

it('shows the number, the size and the age of the recordings of each tenant', async () => {
  const path = await fileWithRecordings()
  const { code, out } = await allium('store', 'recordings', '--store', path)
  expect(code).toBe(0)
  expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['tenant', 'recordings', 'size', 'oldest'],
    ['\\u{1b}[2J', '1', '1 B', expect.stringMatching(/^\d+(ms|s)$/)],
    ['acme', '2', '2 kB', '9d'],
    [''],
  ])
})

it('shows them as JSON, with bytes and milliseconds', async () => {
  const path = await fileWithRecordings()
  const { out } = await allium('store', 'recordings', '--store', path, '--json')
  expect(JSON.parse(out)).toMatchObject({
    recordings: [
      { tenant: '\u001b[2J', count: 1 },
      { tenant: 'acme', count: 2, bytes: 2000, oldestAt: expect.any(Number) },
    ],
  })
})

it.each([
  [['store', 'recordings'], 'Name the store'],
  [['store', 'recordings', '--store', '/nowhere.db'], 'There is no store /nowhere.db'],
  [['store', 'recordings', '--schema', 'a', '--store', 'x'], '--schema'],
  [['store', 'sql', 'sqlite', '--json'], '--json'],
])('reports a mistake in %j', async (argv, told) => {
  const { code, out, err } = await allium(...argv)
  expect([code, (out + err).includes(told)]).toEqual([2, true])
})
