import { AlliumError } from '@allium/core'
import type Libsql from 'libsql'
import { versions } from './versions.ts'

/**
 * Brings a file to the latest version. Runs inside a transaction that locks the file, so of two processes that start at once, one migrates.
 *
 * @param steps the SQL that makes each version out of the one before @default those of this package
 * @throws AlliumError `store.corrupt` when the file is newer, or its tables are not those of its version
 */
export function migrate(db: Libsql.Database, path: string, steps = versions): void {
  const [{ user_version: version = 0 } = {}] = db.pragma('user_version') as { user_version?: number }[]
  const unknown = (problem: string) =>
    new AlliumError(
      'store.corrupt',
      `The file "${path}" has schema version ${version}, but ${problem}, or another file.`,
    )
  const { count } = db.prepare(countTables).get() as { count: number }
  if (version > steps.length)
    throw unknown(`this version of Allium supports at most ${steps.length}. Use a newer version of Allium`)
  if (count !== (version === 0 ? 0 : 2))
    throw unknown('not the tables of this version of Allium. Use the application that wrote it')
  for (const step of steps.slice(version)) db.exec(step)
  db.exec(`pragma user_version = ${steps.length}`)
}

/** Counts two tables of every version. A file of another application has one of them at most. */
const countTables = `select count(*) as count from sqlite_master where type = 'table' and name in ('sessions', 'erasures')`
