import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ledgerConformance, type ManualClock, storeConformance } from '@allium/testing'
import { afterAll, describe, it } from 'vitest'
import { type SqliteStore, sqlite } from '../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'allium-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const opened = new Map<object, { store: SqliteStore; path: string; clock: ManualClock }>()

function open(path: string, clock: ManualClock): SqliteStore {
  const store = sqlite(path, { clock, synchronous: 'normal' })
  for (const part of [store.sessions, store.ledger]) opened.set(part, { store, path, clock })
  return store
}
const fresh = (clock: ManualClock) => open(join(folder, `${files++}.db`), clock)
const again = (part: object): SqliteStore => {
  const known = opened.get(part)
  if (known === undefined) throw new Error('It was not opened here.')
  return open(known.path, known.clock)
}
const close = (part: object) => opened.get(part)?.store.close()

storeConformance({
  name: 'sqlite().sessions',
  makeStore: ({ clock }) => fresh(clock).sessions,
  reopen: (store) => again(store).sessions,
  close,
  describe,
  it,
})

ledgerConformance({
  name: 'sqlite().ledger',
  makeLedger: ({ clock }) => fresh(clock).ledger,
  reopen: (ledger) => again(ledger).ledger,
  close,
  describe,
  it,
})
