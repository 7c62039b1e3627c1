import type { Clock } from '@allium/core'
import Libsql from 'libsql'
import { type SqliteStore, sqlite } from '../src/index.ts'
import { raw } from './files.ts'

/**
 * How SQLite answers each statement that a store asks that was just opened.
 *
 * @returns the plans by their statements
 */
export async function plansOf(
  path: string,
  clock: Clock,
  act: (store: SqliteStore) => Promise<unknown>,
): Promise<Map<string, string>> {
  const { prepare } = Libsql.prototype
  const asked = new Set<string>()
  Libsql.prototype.prepare = function (this: Libsql.Database, sql: string) {
    asked.add(sql)
    return prepare.call(this, sql)
  } as typeof prepare
  try {
    const store = sqlite(path, { clock })
    await act(store)
    store.close()
  } finally {
    Libsql.prototype.prepare = prepare
  }
  return raw(path, (db) => new Map([...asked].map((sql) => [sql, planOf(db, sql)])))
}

function planOf(db: Libsql.Database, sql: string): string {
  const values = Array(sql.split('?').length - 1).fill(0)
  const rows = db.prepare(`explain query plan ${sql}`).all(values) as { detail: string }[]
  return rows.map(({ detail }) => detail).join('\n')
}
