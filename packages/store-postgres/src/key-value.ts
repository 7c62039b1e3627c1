import type { KeyValue } from '@allium/core'
import { bytesOf, checkName, openedValue, type Sealer, sealedValue } from '@allium/store-sql'
import type { Database } from './database.ts'

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
    /** With each value a few that have expired go. */
    async set(key, value, ttl) {
      const bytes = await sealedValue(sealer, checkName('key', key), value)
      await db.repeatable(
        `with gone as (
           delete from ${db.s}.key_values where key in (
             select key from ${db.s}.key_values where expires_at <= (select ${db.s}.now_ms()) and key <> $1
             limit 100 for update skip locked
           )
         ) insert into ${db.s}.key_values values ($1, $2, ${db.s}.now_ms() + $3::double precision)
         on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at`,
        ...[key, bytes, ttl ?? null],
      )
    },
    async delete(key) {
      await db.repeatable(`delete from ${db.s}.key_values where key = $1`, checkName('key', key))
    },
  }
}
