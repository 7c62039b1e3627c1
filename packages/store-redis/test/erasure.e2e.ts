import { setTimeout as sleep } from 'node:timers/promises'
import { erasureConformance } from '@allium/testing'
import { Redis } from 'ioredis'
import { afterAll, describe, it } from 'vitest'
import { type RedisStore, redis } from '../src/index.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const client = new Redis(server?.url ?? '', { lazyConnect: true })
afterAll(async () => {
  client.disconnect()
  await server?.end()
})

const prefixes = new WeakMap<object, string>()

/** Every key of a store, and all that is under it. */
async function keysIn(prefix: string): Promise<string> {
  const keys = await client.keys(`${prefix}:*`)
  const dumps = await Promise.all(keys.map((key) => client.dumpBuffer(key)))
  return [...keys.map(decodeURIComponent), ...dumps.map((dump) => dump?.toString('latin1') ?? '')].join('\n')
}

describe.skipIf(server === undefined)('redis()', () => {
  for (const seed of [1, 2, 3])
    erasureConformance({
      name: `erases events and values, seed ${seed}`,
      seed,
      makeStore() {
        const prefix = `test:${crypto.randomUUID()}`
        const store: RedisStore = redis(server?.url ?? '', { prefix })
        const { events, keyValue } = store
        const parts = {
          ...{ events, keyValue, close: () => store.close() },
          async erase({ tenant, owner }: { tenant: string; owner?: string | undefined }) {
            await keyValue.erase?.({ tenant, owner })
            await events.delete(owner === undefined ? { tenant } : { tenant, owner })
          },
        }
        prefixes.set(parts, prefix)
        return parts
      },
      contents: (store) => keysIn(prefixes.get(store) ?? ''),
      close: (store) => (store as unknown as { close(): void }).close(),
      now: Date.now,
      sleep: (ms) => sleep(ms + 5),
      describe,
      it: (name: string, run: () => Promise<void>) => it(name, run, 60_000),
    })
})
