import { type AuditRow, type AuditTable, toBytes } from '@allium/store-sql'
import type { Database, Row } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'

/** Records per read. */
const pageSize = 500

/** Audit records in a SQLite file. */
export function sqliteAudit(db: Database, clock: SharedClock): AuditTable {
  return {
    async add(tenant, rows) {
      const sql = 'insert into audit (tenant, seq, at, body, digest, key) values (?, ?, ?, ?, ?, ?)'
      return db.writeInGroup(() => {
        const known = rows.flatMap(({ key }) =>
          key !== undefined && db.get('select 1 from audit where tenant = ? and key = ?', tenant, key) ? [key] : [],
        )
        if (known.length > 0) return known
        const first = rows[0]?.seq ?? 1
        if (db.get('select 1 from audit where tenant = ? and seq >= ?', tenant, first)) return 'taken'
        for (const { seq, body, digest, key = null } of rows) db.run(sql, tenant, seq, clock.now(), body, digest, key)
        return 'added'
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
