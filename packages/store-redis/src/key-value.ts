import type { KeyValue } from '@allium/core'
import { bytesOf, checkName, openedValue, type Sealer, sealedValue } from '@allium/store-sql'
import type { Client } from './client.ts'

/** Values that last for a while, in Redis. Whoever sets one names its tenant in the key. */
export function redisKeyValue(client: Client, sealer: Sealer): KeyValue {
  const keyOf = (key: string) => client.key(['value', checkName('key', key)])
  return {
    async get(key) {
      const bytes = await client.ask((redis) => redis.getBuffer(keyOf(key)))
      return bytes === null ? undefined : await openedValue(sealer, key, bytesOf(bytes))
    },
    async set(key, value, ttl) {
      const bytes = Buffer.from(await sealedValue(sealer, checkName('key', key), value))
      await client.ask(async (redis): Promise<unknown> => {
        if (ttl === undefined) return redis.set(keyOf(key), bytes)
        return ttl > 0 ? redis.set(keyOf(key), bytes, 'PX', Math.ceil(ttl)) : redis.del(keyOf(key))
      })
    },
    async delete(key) {
      await client.ask((redis) => redis.del(keyOf(key)))
    },
  }
}
