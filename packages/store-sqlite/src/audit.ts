import { type AuditRow, type AuditTable, bytesOf } from '@allium/store-sql'
import type { Database, Row } from './database.ts'
import type { SharedClock } from './sqlite-clock.ts'

/** Records that a reader gets at a time. */
const most = 500

/** Audit records in a SQLite file. */
export function sqliteAudit(db: Database, clock: SharedClock): AuditTable {
  return {
    async add(tenant, { seq, body, digest, key = null }) {
      const sql = 'insert or ignore into audit (tenant, seq, at, body, digest, key) values (?, ?, ?, ?, ?, ?)'
      return db.writeTogether(() => {
        if (key !== null && db.get('select 1 from audit where tenant = ? and key = ?', tenant, key)) return 'known'
        return db.run(sql, tenant, seq, clock.now(), body, digest, key) > 0 ? 'added' : 'taken'
      })
    },
    async last(tenant) {
      const row = db.get('select * from audit where tenant = ? order by seq desc limit 1', tenant)
      return row && rowOf(row)
    },
    async after(tenant, seq) {
      return db
        .all('select * from audit where tenant = ? and seq > ? order by seq limit ?', tenant, seq, most)
        .map(rowOf)
    },
  }
}

function rowOf({ seq, body, digest }: Row): AuditRow {
  return { seq: Number(seq), body: bytesOf(body), digest: bytesOf(digest) }
}
