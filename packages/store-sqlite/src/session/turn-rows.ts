import type { SqlRow } from '@allium/store-sql'
import type { Database, Value } from '../database/database.ts'
import { sessionMatches } from '../lease/delete-session.ts'

/** The `seq` of a session's open run, which no version has. */
export const openTurnSeq = -1

/** The places of the parts of a run. */
export const partsOf = (n: string) => `between ${n} << 32 and ${n} << 32 | 4294967295`

/** Joins the parts of a run. Each of them is a row, and only the first row has the content of the run itself. */
export const joinParts = `left join turn_parts p on t.seq = ${openTurnSeq} and p.place ${partsOf('t.n')}`
export const ofFirstPart = (column: string) => `iif(coalesce(p.place, 0) & 4294967295 = 0, ${column}, null)`

const columns =
  't.seq, turn_id, idempotency_key, status, started_at, ended_at, usage, start, t.count, digest, sealed_as'
const content = ['messages', 'rest', 'info'].map((name) => `${ofFirstPart(name)} as ${name}`).join()
export const turnColumns = `${columns}, p.body as part`

/** Reads a run with its parts in one statement, so that no other process writes in between. */
export function turnRow(db: Database, key: readonly string[], condition: string, value: Value): SqlRow | undefined {
  const n = `(select n from turns where ${sessionMatches} and ${condition} limit 1)`
  const rows = db.all(
    `select ${turnColumns}, ${content} from turns t ${joinParts} where t.n = ${n} order by p.place`,
    ...key,
    value,
  )
  return withParts(rows)[0]
}

/** Makes one row of those of a run and its parts. */
export function withParts(rows: readonly SqlRow[]): SqlRow[] {
  const turns: (SqlRow & { readonly parts: unknown[] })[] = []
  for (const row of rows) {
    const last = turns.at(-1)
    if (last?.seq === row.seq) last?.parts.push(row.part)
    else turns.push({ ...row, parts: row.part === null ? [] : [row.part] })
  }
  return turns
}
