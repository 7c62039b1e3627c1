import type { SessionKey } from '@allium/core'
import type { PassageTurn, RewrittenTurn } from '@allium/store'
import { checkRewrite } from '@allium/store/passages'
import { sessionKeyParts } from '@allium/store-sql'
import type { Database } from '../database/database.ts'
import { addPassages, isOff } from './add-passages.ts'
import { cutPassages } from './cut-passages.ts'

/** Replaces the passages of a session from a stored turn on. Returns false if the session is not as the caller has read it, or memory is off. */
export async function rewritePassages(
  db: Database,
  given: SessionKey,
  of: RewrittenTurn,
  turn: PassageTurn,
): Promise<boolean> {
  const key = checkRewrite(given, of)
  const parts = sessionKeyParts(key)
  const add = addPassages(db, key, of.version, turn)
  return db.writeInGroup(() => {
    if (isOff(db, key) || db.get(selectTurn, ...parts, of.turns, of.version, turn.turnId) === undefined) return false
    db.run(cutPassages, ...parts, turn.from)
    add()
    return true
  })
}

const selectTurn = `
  select 1 from sessions s join turns t on t.tenant = s.tenant and t.owner = s.owner and t.agent = s.agent and t.session = s.id
  where s.tenant = ?1 and s.owner = ?2 and s.agent = ?3 and s.id = ?4 and s.version = ?5 and t.seq = ?6 and t.turn_id = ?7`
