import type { SessionKey } from '@allium/core'
import type { PassageTurn } from '@allium/store'
import { checkPassages, isMemory } from '@allium/store/passages'
import { sessionKeyParts } from '@allium/store-sql'
import { flowToNumber } from '@allium/store-sql/passages'
import type { Database } from '../database/database.ts'
import { ofSession } from './cut-passages.ts'
import { toToken } from './token.ts'

/**
 * Returns a function that adds the passages of a turn, inside the transaction that stores it.
 *
 * @param seq the number of turns before it
 * @throws AlliumError `state.invalid`, `store.key`
 */
export function addPassages(db: Database, key: SessionKey, seq: number, turn: PassageTurn): () => void {
  const rows = checkPassages(turn, seq).map(({ index, role, author, at, words, flow, terms }) => ({
    values: [index, seq, role, author, at, words, flowToNumber(flow)],
    // Each occurrence is a token.
    tokens: terms.flatMap(([term, count]) => Array<string>(count).fill(toToken(term))).join(' '),
  }))
  return () => {
    if (isOff(db, key)) return
    for (const { values, tokens } of rows) {
      const row = db.get(addPassage, ...sessionKeyParts(key), ...values)
      db.run('insert into passage_terms (rowid, terms) values (?, ?)', Number(row?.n), tokens)
    }
  }
}

/** Whether memory is off for an owner, by themselves or for their tenant. */
export function isOff(
  db: Database,
  { tenant, owner, agent }: Pick<SessionKey, 'tenant' | 'owner'> & { readonly agent?: string | undefined },
): boolean {
  return isMemory(agent) && db.get(selectOff, tenant, owner) !== undefined
}

export const selectOff = "select owner, off from scopes where tenant = ? and owner in (?, '') and off is not null"

const addPassage = `
  insert into passages values (null, ?1, ?2, ?3, ?4,
    coalesce((select max(position) from passages where ${ofSession}), -1) + 1, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
  returning n`
