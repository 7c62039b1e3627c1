import type { KeyValue } from '@allium/store'
import { checkName, checkOwner, erasedDuringRun, openValue, type Sealer, sealValue, toBytes } from '@allium/store-sql'
import type { Client } from './client.ts'
import { type ErasureLog, erasureDigests } from './erasure-log.ts'

/** Values with an expiry, in Redis. A second key in the same cluster slot stores the owner, with the same expiry. */
export function redisKeyValue(client: Client, sealer: Sealer, erasures: ErasureLog): KeyValue {
  const keysOf = (key: string): [value: string, by: string] => {
    const slotParts = ['value', checkName('key', key)]
    return [client.key(slotParts), client.key(slotParts, 'by')]
  }
  return {
    async get(key) {
      const bytes = await client.command((redis) => redis.getBuffer(keysOf(key)[0]))
      return bytes === null ? undefined : await openValue(sealer, key, toBytes(bytes))
    },
    async set(key, value, ttl, by) {
      const [valueKey, ownerKey] = keysOf(key)
      const ownerDigests = by === undefined ? '' : erasureDigests(checkOwner(by)).join(' ')
      const bytes = Buffer.from(await sealValue(sealer, key, value))
      await client.command(async (redis): Promise<unknown> => {
        if (ttl !== undefined && ttl <= 0) return redis.del(valueKey, ownerKey)
        const transaction = redis.multi()
        for (const [redisKey, bytesOrText] of [[ownerKey, ownerDigests] as const, [valueKey, bytes] as const])
          if (ttl === undefined) transaction.set(redisKey, bytesOrText)
          else transaction.set(redisKey, bytesOrText, 'PX', Math.ceil(ttl))
        return transaction.exec()
      })
      if (by === undefined || !(await erasures.isErased(by))) return
      await client.command((redis) => redis.del(valueKey, ownerKey))
      throw erasedDuringRun()
    },
    async delete(key) {
      await client.command((redis) => redis.del(...keysOf(key)))
    },
    /** Scans all keys in Redis. */
    async erase(scope) {
      const subject = erasureDigests(checkOwner(scope)).at(-1) ?? ''
      await erasures.add(scope)
      const suffix = ':by'
      for await (const ownerKey of client.scan(['value'], suffix)) {
        const ownerDigests = await client.command((redis) => redis.get(ownerKey))
        if (ownerDigests?.split(' ').includes(subject) === true)
          await client.command((redis) => redis.del(ownerKey, ownerKey.slice(0, -suffix.length)))
      }
    },
  }
}
