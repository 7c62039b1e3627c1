import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { sqlite } from '@allium/store-sqlite'

/** What waits outlives the process: it stands in a file of SQLite. Processes on several machines share a Postgres. */
export function openStore(file = process.env.APPROVAL_FILE ?? '.cache/waiting.db') {
  mkdirSync(dirname(file), { recursive: true })
  return sqlite(file)
}
