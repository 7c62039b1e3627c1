import { setTimeout as sleep } from 'node:timers/promises'
import { eventLogConformance, keyValueConformance, ledgerConformance, sealedConformance } from '@allium/testing'
import { afterAll, describe, it } from 'vitest'
import { type RedisOptions, type RedisStore, redis } from '../src/index.ts'
import { aes } from './aes.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const opened = new Map<object, { store: RedisStore; options: RedisOptions }>()
afterAll(async () => {
  for (const { store } of opened.values()) store.close()
  await server?.end()
})

const logger = { warn() {}, error() {} }

function open(options: RedisOptions): RedisStore {
  const store = redis(server?.url ?? '', options)
  for (const part of [store.keyValue, store.events, store.ledger]) opened.set(part, { store, options })
  return store
}
const fresh = (options: RedisOptions = {}) => open({ prefix: `test:${crypto.randomUUID()}`, logger, ...options })
const again = (part: object) => open(opened.get(part)?.options ?? {})
const close = (part: object) => opened.get(part)?.store.close()
const delay = (ms: number) => sleep(ms)

describe.skipIf(server === undefined)('redis()', () => {
  for (const [name, more] of [
    ['', {}],
    [', sealed', { encrypt: aes() }],
  ] as const) {
    eventLogConformance({
      name: `events${name}`,
      makeLog: ({ eventRetention }) => fresh({ ...more, eventRetention }).events,
      reopen: (log) => again(log).events,
      close,
      // The server's clock counts, and a busy machine may stand still for seconds.
      eventRetention: 10_000,
      sleep: delay,
      describe: describe.concurrent,
      it,
    })
    keyValueConformance({
      name: `keyValue${name}`,
      makeKeyValue: () => fresh(more).keyValue,
      reopen: (values) => again(values).keyValue,
      close,
      sleep: delay,
      describe: describe.concurrent,
      it,
    })
  }
  ledgerConformance({
    name: 'ledger',
    makeLedger: () => fresh().ledger,
    reopen: (ledger) => again(ledger).ledger,
    close,
    lease: 1200,
    sleep: delay,
    describe,
    it,
  })
  sealedConformance({
    name: 'sealed',
    makeStore: ({ encrypt }) => fresh({ encrypt }),
    parts: ['events'],
    close: (store) => (store as RedisStore).close(),
    sleep: delay,
    describe,
    it,
  })
})
