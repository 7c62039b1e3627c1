import type { KeyValue } from '@allium/core'
import { bytesOf, checkName, checkOwner, erasedSince, openedValue, type Sealer, sealedValue } from '@allium/store-sql'
import type { Database } from './database.ts'
import { since } from './leases.ts'

/** Values that last for a while, in Postgres. */
export function postgresKeyValue(db: Database, sealer: Sealer): KeyValue {
  return {
    async get(key) {
      const [row] = await db.repeatable(
        `select value from ${db.s}.key_values where key = $1 and (expires_at is null or expires_at > ${db.s}.now_ms())`,
        checkName('key', key),
      )
      return row === undefined ? undefined : await openedValue(sealer, key, bytesOf(row.value))
    },
    async set(key, value, ttl, by) {
      if (by !== undefined) checkOwner(by)
      const bytes = await sealedValue(sealer, checkName('key', key), value)
      const { tenant = null, owner = null } = by ?? {}
      const sql = `select ${db.s}.set_value($1, $2, $3, $4, $5, $6, $7) as kept`
      const [row] = await db.repeatable(sql, key, bytes, ttl ?? null, tenant, owner, ...(await since(db, by)))
      if (row?.kept !== true) throw erasedSince()
    },
    async delete(key) {
      await db.repeatable(`delete from ${db.s}.key_values where key = $1`, checkName('key', key))
    },
  }
}
