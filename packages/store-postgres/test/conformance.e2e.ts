import { setTimeout as sleep } from 'node:timers/promises'
import { ledgerConformance, storeConformance } from '@allium/testing'
import { afterAll, describe, it } from 'vitest'
import { aes } from './aes.ts'
import { storesAt } from './schemas.ts'
import { anyServer } from './server.ts'

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
      makeStore: () => stores.fresh(encrypt === undefined ? {} : { encrypt }).sessions,
      reopen: (store) => stores.again(store).sessions,
      close: stores.close,
      lease: 1500,
      wait: (ms) => sleep(ms),
      describe,
      it: it.concurrent,
    })

  ledgerConformance({
    name: 'ledger',
    makeLedger: () => stores.fresh().ledger,
    reopen: (ledger) => stores.again(ledger).ledger,
    close: stores.close,
    describe,
    it: it.concurrent,
  })
})
