import { type AuditRow, type AuditTable, toBytes } from '@allium/store-sql'
import type { Database, Row } from './database.ts'
import type { SharedClock } from './machine-clock.ts'

/** Records per read. */
const pageSize = 500

/** Audit records in a SQLite file. */
export function sqliteAudit(db: Database, clock: SharedClock): AuditTable {
  return {
    async add(tenant, { seq, body, digest, key = null }) {
      const sql = 'insert or ignore into audit (tenant, seq, at, body, digest, key) values (?, ?, ?, ?, ?, ?)'
      return db.writeInGroup(() => {
        if (key !== null && db.get('select 1 from audit where tenant = ? and key = ?', tenant, key)) return 'known'
        return db.run(sql, tenant, seq, clock.now(), body, digest, key) > 0 ? 'added' : 'taken'
      })
    },
    async last(tenant) {
      const row = db.get('select * from audit where tenant = ? order by seq desc limit 1', tenant)
      return row && auditRowFromRow(row)
    },
    async after(tenant, seq) {
      return db
        .all('select * from audit where tenant = ? and seq > ? order by seq limit ?', tenant, seq, pageSize)
        .map(auditRowFromRow)
    },
  }
}

function auditRowFromRow({ seq, body, digest }: Row): AuditRow {
  return { seq: Number(seq), body: toBytes(body), digest: toBytes(digest) }
}
