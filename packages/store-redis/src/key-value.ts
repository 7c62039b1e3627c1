import type { KeyValue } from '@allium/core'
import { bytesOf, checkName, checkOwner, erasedSince, openedValue, type Sealer, sealedValue } from '@allium/store-sql'
import type { Client } from './client.ts'
import { type Erasures, subjectsIn } from './erasures.ts'

/** Values that last for a while, in Redis. Beside each stands for whom it is, in the same slot of a cluster and as long. */
export function redisKeyValue(client: Client, sealer: Sealer, erasures: Erasures): KeyValue {
  const keysOf = (key: string): [value: string, by: string] => {
    const place = ['value', checkName('key', key)]
    return [client.key(place), client.key(place, 'by')]
  }
  return {
    async get(key) {
      const bytes = await client.ask((redis) => redis.getBuffer(keysOf(key)[0]))
      return bytes === null ? undefined : await openedValue(sealer, key, bytesOf(bytes))
    },
    async set(key, value, ttl, by) {
      const [name, owner] = keysOf(key)
      const owners = by === undefined ? '' : subjectsIn(checkOwner(by)).join(' ')
      const bytes = Buffer.from(await sealedValue(sealer, key, value))
      await client.ask(async (redis): Promise<unknown> => {
        if (ttl !== undefined && ttl <= 0) return redis.del(name, owner)
        const both = redis.multi()
        for (const [one, bytesOrText] of [[owner, owners] as const, [name, bytes] as const])
          if (ttl === undefined) both.set(one, bytesOrText)
          else both.set(one, bytesOrText, 'PX', Math.ceil(ttl))
        return both.exec()
      })
      if (by === undefined || !(await erasures.isErased(by))) return
      await client.ask((redis) => redis.del(name, owner))
      throw erasedSince()
    },
    async delete(key) {
      await client.ask((redis) => redis.del(...keysOf(key)))
    },
    /** Looks through all keys of Redis. */
    async erase(of) {
      const subject = subjectsIn(checkOwner(of)).at(-1) ?? ''
      await erasures.add(of)
      const behind = ':by'
      for await (const owner of client.scan(['value'], behind)) {
        const owners = await client.ask((redis) => redis.get(owner))
        if (owners?.split(' ').includes(subject) === true)
          await client.ask((redis) => redis.del(owner, owner.slice(0, -behind.length)))
      }
    },
  }
}
