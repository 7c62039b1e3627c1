import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { onTestFinished } from 'vitest'

/** The path of a file that is gone after the test. */
export function fileIn(): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-sqlite-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'store.db')
}

/** A file with a log, as the store opens it. */
export function opened(path: string): Libsql.Database {
  const db = new Libsql(path)
  db.pragma('journal_mode = WAL')
  return db
}

/** Asks past the store. */
export function raw<T>(path: string, work: (db: Libsql.Database) => T): T {
  const db = new Libsql(path)
  try {
    return work(db)
  } finally {
    db.close()
  }
}
