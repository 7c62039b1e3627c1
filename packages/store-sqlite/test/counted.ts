import Libsql from 'libsql'
import { onTestFinished } from 'vitest'
import { type SqliteOptions, sqlite } from '../src/index.ts'
import { beforeStatementOfNext } from './before-statement.ts'
import { fileIn } from './files.ts'

/** A new store that counts its statements, its transactions and those that sync. Open no other one before its first statement. */
export function counted(options: SqliteOptions = {}) {
  const counts = { statements: 0, commits: 0, syncs: 0 }
  let level = 'full'
  let own: Libsql.Database | undefined
  const { prepare } = Libsql.prototype
  Libsql.prototype.prepare = function (this: Libsql.Database, sql: string) {
    const statement = prepare.call(this, sql)
    own ??= this
    if (this !== own) return statement
    for (const method of ['run', 'get', 'all'] as const) {
      const original = statement[method] as (...values: unknown[]) => never
      statement[method] = (...values: unknown[]) => {
        counts.statements++
        return original.apply(statement, values)
      }
    }
    return statement
  } as typeof prepare
  onTestFinished(() => {
    Libsql.prototype.prepare = prepare
  })
  onTestFinished(
    beforeStatementOfNext((sql) => {
      level = /synchronous = (\w+)/.exec(sql)?.[1] ?? level
      if (sql !== 'commit') return
      counts.commits++
      if (level === 'full') counts.syncs++
    }),
  )
  const store = sqlite(fileIn(), options)
  onTestFinished(() => store.close())
  const countDuring = async (work: () => Promise<unknown>) => {
    Object.assign(counts, { statements: 0, commits: 0, syncs: 0 })
    await work()
    return { ...counts }
  }
  const during = async (work: () => Promise<unknown>) => {
    const { statements, commits } = await countDuring(work)
    return [statements, commits]
  }
  return { store, during, countDuring }
}
