import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  eventLogConformance,
  keyValueConformance,
  ledgerConformance,
  type ManualClock,
  manualClock,
  runStoreConformance,
  scheduleStoreConformance,
  sealedConformance,
  storeConformance,
  vaultConformance,
} from '@allium/testing'
import { feedbackStoreConformance } from '@allium/testing/feedback'
import { runOperationsConformance } from '@allium/testing/operations'
import { passageStoreConformance } from '@allium/testing/passages'
import { recordingStoreConformance } from '@allium/testing/recordings'
import { rolloutStoreConformance } from '@allium/testing/rollouts'
import { afterAll, describe, it } from 'vitest'
import { aes } from '../../store-postgres/test/aes.ts'
import { type SqliteStore, sqlite } from '../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'allium-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const opened = new Map<object, { store: SqliteStore; path: string; clock: ManualClock }>()

for (const [seal, encrypt] of [
  ['', undefined],
  [', sealed', aes()],
] as const) {
  const open = (path: string, clock: ManualClock, eventRetention?: number): SqliteStore => {
    const store = sqlite(path, { clock, synchronous: 'normal', eventRetention, encrypt })
    for (const part of [store, store.sessions, store.ledger, store.events, store.keyValue, store.vault])
      opened.set(part, { store, path, clock })
    return store
  }
  const fresh = (clock: ManualClock, eventRetention?: number) =>
    open(join(folder, `${files++}.db`), clock, eventRetention)
  const again = (part: object, eventRetention?: number): SqliteStore => {
    const known = opened.get(part)
    if (known === undefined) throw new Error('It was not opened here.')
    return open(known.path, known.clock, eventRetention)
  }
  const close = (part: object) => opened.get(part)?.store.close()

  storeConformance({
    name: `sqlite().sessions${seal}`,
    makeStore: ({ clock }) => fresh(clock).sessions,
    reopen: (store) => again(store).sessions,
    close,
    describe,
    it,
  })

  runStoreConformance({
    name: `sqlite().runs${seal}`,
    makeStore: ({ clock }) => fresh(clock),
    reopen: (store) => again(store),
    close,
    describe,
    it,
  })

  scheduleStoreConformance({
    name: `sqlite().schedules${seal}`,
    makeStore: ({ clock }) => fresh(clock),
    reopen: (store) => again(store),
    close,
    describe,
    it,
  })

  runOperationsConformance({
    name: `sqlite().operations${seal}`,
    makeStore: ({ clock }) => fresh(clock),
    reopen: (store) => again(store),
    close,
    describe,
    it,
  })

  passageStoreConformance({
    name: `sqlite().passages${seal}`,
    makeStore: ({ clock }) => fresh(clock),
    reopen: (store) => again(store),
    close,
    describe,
    it,
  })

  recordingStoreConformance({
    name: `sqlite().recordings${seal}`,
    makeStore: ({ clock }) => fresh(clock),
    reopen: (store) => again(store),
    close,
    describe,
    it,
  })

  feedbackStoreConformance({
    name: `sqlite().feedback${seal}`,
    makeStore: ({ clock }) => fresh(clock),
    reopen: (store) => again(store),
    close,
    describe,
    it,
  })

  rolloutStoreConformance({
    name: `sqlite().rollouts${seal}`,
    makeStore: ({ clock }) => fresh(clock),
    reopen: (store) => again(store),
    close,
    describe,
    it,
  })

  ledgerConformance({
    name: `sqlite().ledger${seal}`,
    makeLedger: ({ clock }) => fresh(clock).ledger,
    reopen: (ledger) => again(ledger).ledger,
    close,
    describe,
    it,
  })

  eventLogConformance({
    name: `sqlite().events${seal}`,
    makeLog: ({ clock, eventRetention }) => fresh(clock, eventRetention).events,
    reopen: (log, { eventRetention }) => again(log, eventRetention).events,
    close,
    describe,
    it,
  })

  keyValueConformance({
    name: `sqlite().keyValue${seal}`,
    makeKeyValue: ({ clock }) => fresh(clock).keyValue,
    reopen: (values) => again(values).keyValue,
    close,
    describe,
    it,
  })

  vaultConformance({
    name: `sqlite().vault${seal}`,
    makeVault: () => fresh(manualClock()).vault,
    reopen: (vault) => again(vault).vault,
    close,
    describe,
    it,
  })
}

sealedConformance({
  name: 'sqlite(), sealed',
  makeStore: ({ clock, encrypt }) => sqlite(':memory:', { clock, encrypt }),
  close: (store) => (store as SqliteStore).close(),
  describe,
  it,
})
