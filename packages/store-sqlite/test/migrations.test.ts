import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../src/index.ts'
import { migrations } from '../src/migrations/migrations.ts'
import { fileIn, raw } from './files.ts'

const key = { tenant: 'acme', owner: 'ann', agent: 'a', sessionId: 'chat' }
const bytes = (value: unknown) => `cast('${JSON.stringify(value)}' as blob)`

/** A file as the first version has made it, with a session, money and a value. */
function firstVersion(): string {
  const path = fileIn()
  raw(path, (db) => {
    db.exec(migrations[0] ?? '')
    db.exec(`
      insert into sessions (tenant, owner, id, version, length, status, updated_at) values ('acme', 'ann', 'chat', 1, 1, 'completed', 5);
      insert into turns values ('acme', 'ann', 'chat', 0, 't1', null, 'completed', 1, 2, '{"inputTokens":1,"outputTokens":1,"calls":1}',
        0, 1, 'd', ${bytes([{ role: 'user', content: 'Hi' }])}, ${bytes({ state: {} })}, ${bytes({ rootId: 't1', agent: 'a', answer: 'x', records: [] })});
      insert into accounts values ('acme', 3, 1);
      insert into holds values ('acme', 'open', 1, 0, 1);
      insert into key_values values ('k', ${bytes('v')}, null);
      pragma user_version = 1;`)
  })
  return path
}

it('brings a file of the first version to this one, and keeps all that it has', async () => {
  const path = firstVersion()
  const store = sqlite(path)
  expect((await store.sessions.load(key))?.history).toEqual([{ role: 'user', content: 'Hi' }])
  expect((await store.sessions.find(key, { turnId: 't1' }))?.answer).toBe('x')
  expect(await store.ledger.balance('acme')).toEqual({ spent: 3, reserved: 1 })
  expect(await store.keyValue.get('k')).toBe('v')
  const run = { key, turnId: 't2' }
  await store.events.append(run, 1, ['one'], { end: true })
  expect(await store.events.latest(key)).toEqual({ turnId: 't2', seq: 1, ended: true })
  await store.vault.save('pii:["acme","ann","a","chat"]', { a: 'b' })
  await store.ledger.settle({ id: 'open', account: 'acme', amount: 1 }, 2)
  expect(await store.ledger.balance('acme')).toEqual({ spent: 5, reserved: 0 })
  store.close()
  expect(raw(path, (db) => db.pragma('user_version'))).toEqual([{ user_version: migrations.length }])
})

it('changes nothing of a file where a step of the way fails', () => {
  const path = firstVersion()
  raw(path, (db) => db.exec('create table event_runs (mine text)'))
  expect(() => sqlite(path)).toThrow(/event_runs/)
  expect(raw(path, (db) => db.pragma('user_version'))).toEqual([{ user_version: 1 }])
})

const versions = migrations.map((_, i) => i + 1)

it.each(versions)(
  'a file of the schema %i is brought to that of today, with the money that it holds',
  async (version) => {
    const folder = mkdtempSync(join(tmpdir(), 'allium-sqlite-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'old.db')
    const old = new Libsql(path)
    for (const step of migrations.slice(0, version)) old.exec(step)
    old.exec(`insert into accounts (name, spent, reserved) values ('acme', 2, 3);
    insert into holds (account, id, amount, at) values ('acme', 'a', 3, 1);
    pragma user_version = ${version};`)
    old.close()
    const { ledger, close } = sqlite(path)
    expect(ledger.balance('acme')).toEqual({ spent: 2, reserved: 3 })
    await ledger.settle({ id: 'a', account: 'acme', amount: 3 }, 1)
    await ledger.reserve({ id: 'b', account: 'acme', amount: 1, limit: 4, ttl: 1000, run: 'r' })
    expect([ledger.balance('acme'), ledger.holds?.('r')]).toEqual([
      { spent: 3, reserved: 1 },
      [{ id: 'b', account: 'acme', amount: 1 }],
    ])
    close()
  },
)
