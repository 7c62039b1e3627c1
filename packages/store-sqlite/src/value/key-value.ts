import type { Writer } from '@allium/core'
import type { KeyValue } from '@allium/store'
import { checkName, checkOwner, openValue, sealValue, toBytes } from '@allium/store-sql'
import type { StoreParts } from '../store-parts.ts'

/** Values with an expiry, in a SQLite file. */
export function sqliteKeyValue({ db, clock, sealer, writers }: StoreParts): KeyValue {
  const setValue = (key: string, bytes: Uint8Array, expiresAt: number | null, by: Writer | undefined) => {
    const token = by === undefined ? 0 : writers.token(by, by)
    const { tenant = null, owner = null } = by ?? {}
    db.run('delete from key_values where expires_at <= ?', clock.now())
    db.run('insert or replace into key_values values (?, ?, ?, ?, ?, ?)', key, bytes, expiresAt, tenant, owner, token)
  }
  return {
    async get(key) {
      const row = db.get('select value, expires_at from key_values where key = ?', checkName('key', key))
      if (row === undefined || (row.expires_at !== null && Number(row.expires_at) <= clock.now())) return undefined
      return openValue(sealer, key, toBytes(row.value))
    },
    async set(key, value, ttl, by) {
      if (by !== undefined) checkOwner(by)
      const bytes = await sealValue(sealer, checkName('key', key), value)
      const expiresAt = ttl === undefined ? null : Math.ceil(clock.now() + ttl)
      await db.writeInGroup(() => setValue(key, bytes, expiresAt, by))
    },
    async delete(key) {
      checkName('key', key)
      await db.writeInGroup(() => {
        db.run('delete from key_values where key = ?', key)
      })
    },
  }
}
