import type { SessionKey } from '@allium/core'
import type { PassageTurn, RewrittenTurn } from '@allium/store'
import { checkRewrite } from '@allium/store/passages'
import type { Database } from '../database/database.ts'
import { keyParams } from '../database/keys.ts'
import { passageRows } from './passage-rows.ts'

/** Replaces the passages of a session from a stored turn on. Returns false if the session is not as the caller has read it, or memory is off. */
export async function rewritePassages(
  db: Database,
  given: SessionKey,
  of: RewrittenTurn,
  turn: PassageTurn,
): Promise<boolean> {
  const key = checkRewrite(given, of)
  const sql = `select ${db.s}.rewrite_passages($1, $2, $3, $4, $5, $6, $7, $8, $9) as is_written`
  const values = [of.turns, of.version, turn.turnId, turn.from, passageRows(turn, of.version) ?? null]
  const [row] = await db.queryIdempotent(sql, ...keyParams(key), ...values)
  return row?.is_written === true
}
