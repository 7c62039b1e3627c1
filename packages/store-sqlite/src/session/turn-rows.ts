import type { SqlRow } from '@allium/store-sql'
import type { Database, Row } from '../database/database.ts'

/** The `seq` of a session's open run, which no version has. */
export const openTurnSeq = -1

/** The places of the parts of a run. */
export const partsOf = (n: string) => `between ${n} << 32 and ${n} << 32 | 4294967295`

const selectParts = `select body from turn_parts where place ${partsOf('?1')} order by place`

/** Reads rows of runs, and the parts of open ones, at the same moment. */
export function readTurns(db: Database, select: () => Row[]): SqlRow[] {
  return db.read(() =>
    select().map((row) =>
      row.seq === openTurnSeq ? { ...row, parts: db.all(selectParts, row.n as number).map(({ body }) => body) } : row,
    ),
  )
}
