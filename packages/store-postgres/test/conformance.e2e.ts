import { setTimeout as sleep } from 'node:timers/promises'
import {
  eventLogConformance,
  keyValueConformance,
  ledgerConformance,
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
import { aes } from './aes.ts'
import { storesAt } from './schemas.ts'
import { anyServer } from './server.ts'

/** Milliseconds of a lease: enough for what a case does within one on a busy machine, and not too many for the one that waits for 60 of them. */
const lease = 2_000
const patiently = (name: string, run: () => Promise<void>) => it(name, run, 240_000)

const server = await anyServer()
const stores = storesAt(server?.url ?? '')
afterAll(async () => {
  await stores.end()
  await server?.end()
})

describe.skipIf(server === undefined)('postgres()', () => {
  for (const [name, encrypt] of [
    ['sessions', undefined],
    ['sessions, sealed', aes()],
  ] as const)
    storeConformance({
      name,
      makeStore: async () => (await stores.empty(encrypt === undefined ? {} : { encrypt })).sessions,
      reopen: (store) => stores.again(store).sessions,
      close: stores.close,
      lease,
      sleep: (ms) => sleep(ms),
      describe: describe.concurrent,
      it: patiently,
    })

  for (const [name, encrypt] of [
    ['', undefined],
    [', sealed', aes()],
  ] as const) {
    const more = encrypt === undefined ? {} : { encrypt }
    const shared = { close: stores.close, describe: describe.concurrent, it: patiently }
    runStoreConformance({
      name: `runs${name}`,
      makeStore: () => stores.empty(more),
      reopen: (store) => stores.again(store),
      lease,
      sleep: (ms) => sleep(ms),
      ...shared,
    })
    scheduleStoreConformance({
      name: `schedules${name}`,
      makeStore: () => stores.empty(more),
      reopen: (store) => stores.again(store),
      lease,
      sleep: (ms) => sleep(ms),
      ...shared,
    })
    runOperationsConformance({
      name: `operations${name}`,
      makeStore: () => stores.empty(more),
      reopen: (store) => stores.again(store),
      lease,
      sleep: (ms) => sleep(ms),
      ...shared,
    })
    passageStoreConformance({
      name: `passages${name}`,
      makeStore: () => stores.empty(more),
      reopen: (store) => stores.again(store),
      lease,
      sleep: (ms) => sleep(ms),
      ...shared,
    })
    recordingStoreConformance({
      name: `recordings${name}`,
      makeStore: () => stores.empty(more),
      reopen: (store) => stores.again(store),
      lease,
      sleep: (ms) => sleep(ms),
      ...shared,
    })
    feedbackStoreConformance({
      name: `feedback${name}`,
      makeStore: () => stores.empty(more),
      reopen: (store) => stores.again(store),
      lease,
      sleep: (ms) => sleep(ms),
      ...shared,
    })
    rolloutStoreConformance({
      name: `rollouts${name}`,
      makeStore: () => stores.empty(more),
      reopen: (store) => stores.again(store),
      lease,
      sleep: (ms) => sleep(ms),
      ...shared,
    })
    eventLogConformance({
      name: `events${name}`,
      makeLog: async ({ eventRetention }) => (await stores.empty({ ...more, eventRetention })).events,
      reopen: (log) => stores.again(log).events,
      eventRetention: 4000,
      sleep: (ms) => sleep(ms),
      ...shared,
    })
    keyValueConformance({
      name: `keyValue${name}`,
      makeKeyValue: async () => (await stores.empty(more)).keyValue,
      reopen: (values) => stores.again(values).keyValue,
      sleep: (ms) => sleep(ms),
      ...shared,
    })
    ledgerConformance({
      name: `ledger${name}`,
      makeLedger: async () => (await stores.empty(more)).ledger,
      reopen: (ledger) => stores.again(ledger).ledger,
      lease,
      sleep: (ms) => sleep(ms),
      ...shared,
    })
    vaultConformance({
      name: `vault${name}`,
      makeVault: async () => (await stores.empty(more)).vault,
      reopen: (vault) => stores.again(vault).vault,
      ...shared,
    })
  }

  sealedConformance({
    name: 'sealed',
    makeStore: ({ encrypt }) => stores.empty({ encrypt }),
    close: stores.close,
    lease,
    sleep: (ms) => sleep(ms),
    describe: describe.concurrent,
    it: patiently,
  })
})
