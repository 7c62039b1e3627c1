import { mkdirSync } from 'node:fs'
import { sqlite } from '@allium/store-sqlite'

/** Opens the store, a file in the folder `data`. It holds sessions, budgets and accounts. */
export async function openStore(data: string) {
  mkdirSync(data, { recursive: true })
  return { store: sqlite(`${data}/app.db`), note: `SQLite, ${data}/app.db` }
}
