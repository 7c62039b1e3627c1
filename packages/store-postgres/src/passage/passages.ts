import type { PassageStore } from '@allium/store'
import { checkPlaces, checkScope, checkScopeOwner, checkTerms, isMemory, maxPostings } from '@allium/store/passages'
import { type Blobs, erasedDuringRun, retryRead, type Sealer } from '@allium/store-sql'
import {
  type KeyOwner,
  newScopeKey,
  openScopeKey,
  passageCountFromRow,
  passagesFromRows,
  postingFromRow,
} from '@allium/store-sql/passages'
import { checkCombinedLength } from '../database/combined-length.ts'
import type { Database, Row } from '../database/database.ts'
import { writerSince } from '../lease/leases.ts'
import { postgresMemorySwitch, selectOff } from './memory-switch.ts'
import { toBigint } from './passage-rows.ts'
import { rewritePassages } from './rewrite-passages.ts'
import { postgresVectors } from './vectors.ts'

/** Passages in Postgres. `postgres()` loads this with the first use of its `passages`. */
export function postgresPassages(db: Database, sealer: Sealer, blobs: Blobs): PassageStore {
  const table = `${db.s}.passages`
  /** The terms are found first, because they are those of one owner. The condition on the owner protects against two equal digests. */
  const selectPostings = `select t.i, p.* from unnest($4::bigint[]) with ordinality as t (term, i) cross join lateral (
      select session, position, idx, words, counts[array_position(terms, t.term)] as count, n
      from (select * from ${table} where terms @> array[t.term] offset 0) p where ${ofScope}
      order by n desc limit ${maxPostings}
    ) p order by t.i, p.n desc`
  const selectPassages = `select ${selected} from unnest($4::text[], $5::integer[]) with ordinality as a (session, position, i)
    join ${table} p using (session, position)
    join ${db.s}.turns t using (tenant, owner, agent, session, seq) where ${ofScope} order by a.i`

  const writeKey = async (owner: KeyOwner, always: boolean, since: readonly unknown[], sealed: Uint8Array | null) => {
    const sql = `select * from ${db.s}.scope_key($1, $2, $3, $4, $5, $6)`
    const [row] = await db.queryIdempotent(sql, owner.tenant, owner.owner, always, sealed, ...since)
    if (row === undefined || row.token_ === null) throw erasedDuringRun()
    return row.key_ === null ? undefined : { key: row.key_ }
  }
  return {
    sealed: sealer.encrypts,
    async key({ agent, ...of }, by) {
      const owner = checkScopeOwner(of)
      const always = !isMemory(agent)
      checkCombinedLength('tenant and owner', [owner.tenant, owner.owner])
      let row: Row | undefined
      if (by === undefined) [row] = await db.queryIdempotent(selectKey(db.s), owner.tenant, owner.owner, always)
      else {
        const since = await writerSince(db, by)
        row = await writeKey(owner, always, since, null)
        row ??= await writeKey(owner, always, since, await newScopeKey(sealer, owner))
      }
      return row && openScopeKey(sealer, owner, row)
    },
    async postings(scope, terms) {
      const { tenant, owner, agent } = checkScope(scope)
      const checked = checkTerms(terms)
      const rows = await db.queryIdempotent(selectPostings, tenant, owner, agent, checked.map(toBigint))
      return rows.map((row) => postingFromRow(checked[Number(row.i) - 1] as string, row))
    },
    async read(scope, places) {
      const { tenant, owner, agent } = checkScope(scope)
      const checked = checkPlaces(places)
      const columns = [checked.map((one) => one.sessionId), checked.map((one) => one.position)]
      return retryRead(async () => {
        const rows = await db.queryIdempotent(selectPassages, tenant, owner, agent, ...columns)
        return passagesFromRows({ tenant, owner, agent }, rows, blobs)
      })
    },
    async count(scope) {
      const { tenant, owner, agent } = checkScope(scope)
      const sql = `select count(*) as passages, sum(words) as words from ${table} p where ${ofScope}`
      const [row] = await db.queryIdempotent(sql, tenant, owner, agent)
      return passageCountFromRow(row)
    },
    ...postgresMemorySwitch(db),
    ...postgresVectors(db, sealer),
    rewrite: (key, of, turn) => rewritePassages(db, key, of, turn),
  }
}

/** $3 is true for documents, which have their key while memory is off, too. */
const selectKey = (s: string) =>
  `select key from ${s}.scopes where tenant = $1 and owner = $2 and key is not null and ($3 or not exists (${selectOff(s)}))`

const selected =
  'p.session, p.position, p.idx, p.role, p.author, p.at, p.words, p.flow, t.turn_id, t.start, t.messages, t.sealed_as'
const ofScope = 'p.tenant = $1 and p.owner = $2 and p.agent = $3'
