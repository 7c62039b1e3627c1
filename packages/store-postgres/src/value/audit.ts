import { type AuditRow, type AuditTable, toBytes } from '@allium/store-sql'
import { columnsOf, type Database, type Row } from '../database/database.ts'

/** Records per read. */
const pageSize = 500

/** Audit records in Postgres. */
export function postgresAudit(db: Database): AuditTable {
  /** Whether the same rows are there, from an attempt whose connection was lost. The last digest covers all of them. */
  const isStored = async (tenant: string, rows: readonly AuditRow[]) => {
    const { seq, digest } = rows.at(-1) as AuditRow
    const sql = `select from ${db.s}.audit where tenant = $1 and seq = $2 and digest = $3`
    return (await db.queryIdempotent(sql, tenant, seq, digest)).length > 0
  }
  return {
    async add(tenant, rows) {
      try {
        const [outcome] = await db.queryIdempotent(
          `with known as (select key from ${db.s}.audit where tenant = $1 and key = any ($5::text[])),
           added as (
             insert into ${db.s}.audit select $1, seq, ${db.s}.now_ms(), body, digest, key
             from unnest($2::int8[], $3::bytea[], $4::bytea[], $5::text[]) as t (seq, body, digest, key)
             where not exists (select from known)
           ) select array(select key from known) as known`,
          tenant,
          ...columnsOf(
            4,
            rows.map(({ seq, body, digest, key = null }) => [seq, body, digest, key]),
          ),
        )
        const known = (outcome?.known ?? []) as string[]
        return known.length === 0 ? 'added' : (await isStored(tenant, rows)) ? 'added' : known
      } catch (error) {
        if ((error as { code?: unknown }).code !== '23505') throw error
        return (await isStored(tenant, rows)) ? 'added' : 'taken'
      }
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
