import type { KeyValue } from '@allium/core'
import { bytesOf, checkName, openedValue, type Sealer, sealedValue } from '@allium/store-sql'
import type { Database } from './database.ts'
import type { SharedClock } from './sqlite-clock.ts'

/** Values that last for a while, in a SQLite file. */
export function sqliteKeyValue(db: Database, clock: SharedClock, sealer: Sealer): KeyValue {
  return {
    async get(key) {
      const row = db.get('select value, expires_at from key_values where key = ?', checkName('key', key))
      if (row === undefined || (row.expires_at !== null && Number(row.expires_at) <= clock.now())) return undefined
      return openedValue(sealer, key, bytesOf(row.value))
    },
    async set(key, value, ttl) {
      const bytes = await sealedValue(sealer, checkName('key', key), value)
      const expires = ttl === undefined ? null : Math.ceil(clock.now() + ttl)
      await db.writeTogether(() => {
        db.run('delete from key_values where expires_at <= ?', clock.now())
        db.run('insert or replace into key_values values (?, ?, ?)', key, bytes, expires)
      })
    },
    async delete(key) {
      checkName('key', key)
      await db.writeTogether(() => {
        db.run('delete from key_values where key = ?', key)
      })
    },
  }
}
