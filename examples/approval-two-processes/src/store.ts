import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { sqlite } from '@allium/store-sqlite'

/** Pending calls are stored in a SQLite file, so they survive the process. Use Postgres for processes on several machines. */
export function openStore(file = process.env.APPROVAL_FILE ?? '.cache/waiting.db') {
  mkdirSync(dirname(file), { recursive: true })
  return sqlite(file)
}
