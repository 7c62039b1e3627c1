import { setTimeout as sleep } from 'node:timers/promises'
import { ledgerConformance, storeConformance } from '@allium/testing'
import { afterAll, describe, it } from 'vitest'
import { aes } from './aes.ts'
import { storesAt } from './schemas.ts'
import { anyServer } from './server.ts'

/** Milliseconds of a lease: enough for what a case does within one on a busy machine, and not too many for the one that waits for 60 of them. */
const lease = 750
const patiently = (name: string, run: () => Promise<void>) => it(name, run, 60_000)

const server = await anyServer()
const stores = storesAt(server?.url ?? '')
afterAll(async () => {
  await stores.end()
  await server?.end()
}, 60_000)

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
      lease,
      wait: (ms) => sleep(ms),
      describe: describe.concurrent,
      it: patiently,
    })

  ledgerConformance({
    name: 'ledger',
    makeLedger: () => stores.fresh().ledger,
    reopen: (ledger) => stores.again(ledger).ledger,
    close: stores.close,
    ttl: lease,
    wait: (ms) => sleep(ms),
    describe: describe.concurrent,
    it: patiently,
  })
})
