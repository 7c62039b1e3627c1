import type { PassageStore } from '@allium/store'
import { checkPlaces, checkScope, checkScopeOwner, checkTerms, maxPostings } from '@allium/store/passages'
import { retryRead } from '@allium/store-sql'
import {
  newScopeKey,
  openScopeKey,
  passageCountFromRow,
  passagesFromRows,
  postingFromRow,
} from '@allium/store-sql/passages'
import type { Row } from '../database/database.ts'
import type { StoreParts } from '../store-parts.ts'
import { isOff } from './add-passages.ts'
import { sqliteMemorySwitch } from './memory-switch.ts'
import { rewritePassages } from './rewrite-passages.ts'
import { toToken } from './token.ts'
import { sqliteVectors } from './vectors.ts'

/** Passages in a SQLite file. `sqlite()` loads this with the first use of its `passages`. */
export function sqlitePassages(parts: StoreParts): PassageStore {
  const { db, sealer, writers, blobs } = parts
  return {
    sealed: sealer.encrypts,
    async key({ agent, ...of }, by) {
      const owner = checkScopeOwner(of)
      const stored = () => (isOff(db, { ...owner, agent }) ? undefined : db.get(selectKey, owner.tenant, owner.owner))
      let row = stored()
      if (by !== undefined) {
        const sealed = row === undefined ? await newScopeKey(sealer, owner) : undefined
        row = await db.writeInGroup(() => {
          writers.token(owner, by)
          if (sealed !== undefined && !isOff(db, { ...owner, agent })) db.run(addKey, owner.tenant, owner.owner, sealed)
          return stored()
        })
      }
      return row && openScopeKey(sealer, owner, row)
    },
    async postings(scope, terms) {
      const { tenant, owner, agent } = checkScope(scope)
      const checked = checkTerms(terms)
      const found = db.read(() => checked.map((term) => db.all(selectPostings, tenant, owner, agent, toToken(term))))
      return found.flatMap((rows, i) => rows.map((row) => postingFromRow(checked[i] as string, row)))
    },
    async read(scope, places) {
      const { tenant, owner, agent } = checkScope(scope)
      const checked = checkPlaces(places)
      return retryRead(async () => {
        const rows = db.read(() =>
          checked.flatMap(({ sessionId, position }): Row[] =>
            db.all(selectPassage, tenant, owner, agent, sessionId, position),
          ),
        )
        return passagesFromRows({ tenant, owner, agent }, rows, blobs)
      })
    },
    async count(scope) {
      const { tenant, owner, agent } = checkScope(scope)
      return passageCountFromRow(db.get(countPassages, tenant, owner, agent))
    },
    ...sqliteMemorySwitch(parts),
    ...sqliteVectors(parts),
    rewrite: (key, of, turn) => rewritePassages(db, key, of, turn),
  }
}

const selectKey = 'select key from scopes where tenant = ? and owner = ? and key is not null'
const addKey = `insert into scopes (tenant, owner, key) values (?, ?, ?)
  on conflict do update set key = coalesce(key, excluded.key)`

const ofScope = 'p.tenant = ?1 and p.owner = ?2 and p.agent = ?3'

/** The terms are those of one owner. The condition on the owner protects against two equal digests. */
export const selectPostings = `
  select p.session, p.position, p.idx, p.words, v.count
  from (select doc, count(*) as count from passage_postings where term = ?4 group by doc) v
  cross join passages p on p.n = v.doc where ${ofScope} order by p.n desc limit ${maxPostings}`

const selectPassage = `
  select p.*, t.turn_id, t.start, t.messages, t.sealed_as from passages p
  join turns t on t.tenant = p.tenant and t.owner = p.owner and t.agent = p.agent and t.session = p.session and t.seq = p.seq
  where ${ofScope} and p.session = ?4 and p.position = ?5`

const countPassages = `select count(*) as passages, sum(words) as words from passages p where ${ofScope}`
