import { expect, it } from 'vitest'
import { sqlite } from '../src/index.ts'
import { migrate } from '../src/schema/migrate.ts'
import { versions } from '../src/schema/versions.ts'
import { fileIn, raw } from './files.ts'

const versionOf = (path: string) => raw(path, (db) => db.pragma('user_version'))
const tablesOf = (path: string) => raw(path, (db) => db.prepare('select name from sqlite_master').all())

/** A file of version 1 with an account. */
async function fileWithMoney(): Promise<string> {
  const path = fileIn()
  const { ledger, close } = sqlite(path)
  await ledger.reserve({ id: 'a', account: 'acme', amount: 3, limit: 4, ttl: 1000, run: 'r' })
  await ledger.settle({ id: 'a', account: 'acme', amount: 3 }, 3)
  close()
  return path
}

const addColumn = "alter table accounts add column currency text not null default 'EUR'"

it('brings a file of version 1 to the next version, with the money that it holds', async () => {
  const path = await fileWithMoney()
  raw(path, (db) => migrate(db, path, [...versions, addColumn]))
  const accounts = raw(path, (db) => db.prepare('select spent, currency from accounts').all())
  expect([accounts, versionOf(path)]).toEqual([[{ spent: 3, currency: 'EUR' }], [{ user_version: 2 }]])
  expect(() => sqlite(path)).toThrow('has schema version 2, but this version of Allium supports at most 1')
})

it('brings a new file to the latest version', () => {
  const path = fileIn()
  raw(path, (db) => migrate(db, path, [...versions, addColumn]))
  expect(versionOf(path)).toEqual([{ user_version: 2 }])
})

it.each([
  ['of another application', 'create table users (id text); pragma user_version = 1'],
  ['of a newer version of another application', 'create table sessions (id text); pragma user_version = 15'],
  ['with a table of the same name', 'create table sessions (id text)'],
])('rejects a file %s, says what to do, and leaves it as it is', (_, sql) => {
  const path = fileIn()
  raw(path, (db) => db.exec(sql))
  expect(() => sqlite(path)).toThrow(
    expect.objectContaining({ code: 'store.corrupt', message: expect.stringContaining('another file') }),
  )
  expect(tablesOf(path)).toHaveLength(1)
})

it('changes nothing in a file if a table of the schema exists already', () => {
  const path = fileIn()
  raw(path, (db) => db.exec('create table event_runs (mine text)'))
  expect(() => sqlite(path)).toThrow(/event_runs/)
  expect(tablesOf(path)).toEqual([{ name: 'event_runs' }])
})
