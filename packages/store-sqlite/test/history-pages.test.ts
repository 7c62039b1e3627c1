import Libsql from 'libsql'
import { expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../src/index.ts'
import { fileIn } from './files.ts'
import { turn } from './stored-turn.ts'

const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }

/** A session whose turns begin at these messages, and how many steps SQLite takes for a page of it. */
async function sessionOf(starts: readonly number[]) {
  let db: Libsql.Database | undefined
  const { prepare } = Libsql.prototype
  Libsql.prototype.prepare = function (this: Libsql.Database, sql: string) {
    db ??= this
    return prepare.call(this, sql)
  } as typeof prepare
  onTestFinished(() => void Object.assign(Libsql.prototype, { prepare }))
  const store = sqlite(fileIn(), { synchronous: 'normal' })
  onTestFinished(() => store.close())
  const { lease = expect.fail() } = await store.sessions.acquire(key, 1e9)
  for (const [version, from] of starts.entries())
    await store.sessions.append(lease, version, { ...turn, turnId: `t${version}`, from })
  // https://www.sqlite.org/stmt.html
  const [select, none] = ['select sum(nstep) as steps from sqlite_stmt', { steps: 0 }]
  const steps = () => ((db?.prepare(select).get([]) ?? none) as typeof none).steps
  return async (before: number) => {
    const earlier = steps()
    const page = await store.sessions.history(key, { before, limit: 20 })
    return { steps: steps() - earlier, from: page.map(({ from }) => from) }
  }
}

const ascending = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

it('reads an early page of a long session with about as many steps as the last one', async () => {
  const pageBefore = await sessionOf(ascending(0, 300))
  await pageBefore(300)
  const [last, early] = [await pageBefore(300), await pageBefore(24)]
  expect(last.from).toEqual(ascending(280, 300).reverse())
  expect(early.from).toEqual(ascending(4, 24).reverse())
  expect(early.steps).toBeLessThan(last.steps * 1.2)
})

it('finds the page before any message of a session that was rewound', async () => {
  const pageBefore = await sessionOf([...ascending(0, 60), ...ascending(30, 33), ...ascending(10, 17), 12, 13])
  for (let before = 1; before < 15; before++) expect((await pageBefore(before)).from[0]).toBe(before - 1)
  expect((await pageBefore(5)).from).toEqual([4, 3, 2, 1, 0])
})
