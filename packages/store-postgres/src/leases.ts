import type { SessionStore } from '@allium/core'
import type { Database } from './database.ts'
import { at, checkedKey } from './names.ts'

/** Who may write to a session, and until when, by the server's clock. */
export function postgresLeases(db: Database): Pick<SessionStore, 'acquire' | 'renew' | 'release'> {
  return {
    async acquire(given, ms) {
      const key = checkedKey({ ...given })
      const [row] = await db.once(`select * from ${db.s}.take_lease($1, $2, $3, $4)`, ...at(key), ms)
      if (row === undefined || row.token_ === null) return { heldUntil: Math.ceil(Number(row?.held_until_)) }
      const lease = { key, token: Number(row.token_), version: Number(row.version_) }
      return { lease: row.open_ === true ? { ...lease, open: true } : lease }
    },
    async renew({ key, token }, ms) {
      const rows = await db.repeatable(
        `update ${db.s}.sessions set held_until = ${db.s}.now_ms() + $5
         where tenant = $1 and owner = $2 and id = $3 and token = $4 and held_until > 0 returning 1`,
        ...[...at(key), token, ms],
      )
      return rows.length > 0
    },
    async release({ key, token }) {
      await db.repeatable(
        `update ${db.s}.sessions set held_until = 0 where tenant = $1 and owner = $2 and id = $3 and token = $4`,
        ...[...at(key), token],
      )
    },
  }
}
