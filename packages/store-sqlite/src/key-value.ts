import type { KeyValue, Writer } from '@allium/core'
import { bytesOf, checkName, checkOwner, openedValue, sealedValue } from '@allium/store-sql'
import type { Parts } from './lists.ts'

/** Values that last for a while, in a SQLite file. */
export function sqliteKeyValue({ db, clock, sealer, erasures, leases }: Parts): KeyValue {
  const put = (key: string, bytes: Uint8Array, expires: number | null, by: Writer | undefined) => {
    const token = by === undefined ? 0 : erasures.tokenOf(by, by, leases)
    const { tenant = null, owner = null } = by ?? {}
    db.run('delete from key_values where expires_at <= ?', clock.now())
    db.run('insert or replace into key_values values (?, ?, ?, ?, ?, ?)', key, bytes, expires, tenant, owner, token)
  }
  return {
    async get(key) {
      const row = db.get('select value, expires_at from key_values where key = ?', checkName('key', key))
      if (row === undefined || (row.expires_at !== null && Number(row.expires_at) <= clock.now())) return undefined
      return openedValue(sealer, key, bytesOf(row.value))
    },
    async set(key, value, ttl, by) {
      if (by !== undefined) checkOwner(by)
      const bytes = await sealedValue(sealer, checkName('key', key), value)
      const expires = ttl === undefined ? null : Math.ceil(clock.now() + ttl)
      await db.writeTogether(() => put(key, bytes, expires, by))
    },
    async delete(key) {
      checkName('key', key)
      await db.writeTogether(() => {
        db.run('delete from key_values where key = ?', key)
      })
    },
  }
}
