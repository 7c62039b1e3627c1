import { type AuditRow, type AuditTable, toBytes } from '@allium/store-sql'
import type { Database, Row } from './database.ts'

/** Records per read. */
const pageSize = 500

/** Audit records in Postgres. */
export function postgresAudit(db: Database): AuditTable {
  return {
    async add(tenant, { seq, body, digest, key = null }) {
      // Idempotent: adding the same record again finds it.
      const [row] = await db.queryIdempotent(
        `with added as (
           insert into ${db.s}.audit values ($1, $2, ${db.s}.now_ms(), $3, $4, $5) on conflict do nothing returning seq
         ) select 'added' as outcome from added union all
         select 'added' from ${db.s}.audit where tenant = $1 and seq = $2 and body = $3 and digest = $4 union all
         select 'known' from ${db.s}.audit where tenant = $1 and key = $5 limit 1`,
        ...[tenant, seq, body, digest, key],
      )
      return (row?.outcome ?? 'taken') as Awaited<ReturnType<AuditTable['add']>>
    },
    async last(tenant) {
      const [row] = await db.queryIdempotent(
        `select * from ${db.s}.audit where tenant = $1 order by seq desc limit 1`,
        tenant,
      )
      return row && auditRowFromRow(row)
    },
    async after(tenant, seq) {
      const sql = `select * from ${db.s}.audit where tenant = $1 and seq > $2 order by seq limit ${pageSize}`
      return (await db.queryIdempotent(sql, tenant, seq)).map(auditRowFromRow)
    },
  }
}

function auditRowFromRow({ seq, body, digest }: Row): AuditRow {
  return { seq: Number(seq), body: toBytes(body), digest: toBytes(digest) }
}
