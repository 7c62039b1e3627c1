import type { KeyValue } from '@allium/store'
import { checkName, checkOwner, erasedDuringRun, openValue, type Sealer, sealValue, toBytes } from '@allium/store-sql'
import type { Database } from '../database/database.ts'
import { writerSince } from '../lease/leases.ts'

/** Values with an expiry, in Postgres. */
export function postgresKeyValue(db: Database, sealer: Sealer): KeyValue {
  return {
    async get(key) {
      const [row] = await db.queryIdempotent(
        `select value from ${db.s}.key_values where key = $1 and (expires_at is null or expires_at > ${db.s}.now_ms())`,
        checkName('key', key),
      )
      return row === undefined ? undefined : await openValue(sealer, key, toBytes(row.value))
    },
    async set(key, value, ttl, by) {
      if (by !== undefined) checkOwner(by)
      const bytes = await sealValue(sealer, checkName('key', key), value)
      const { tenant = null, owner = null } = by ?? {}
      const writer = await writerSince(db, by)
      const isStored = await db.call('set_value', key, bytes, ttl ?? null, tenant, owner, ...writer)
      if (isStored !== true) throw erasedDuringRun()
    },
    async delete(key) {
      await db.queryIdempotent(`delete from ${db.s}.key_values where key = $1`, checkName('key', key))
    },
  }
}
