import type { PassageStore } from '@allium/store'
import { checkPlaces, checkScope, checkVectorModel, checkVectors } from '@allium/store/passages'
import type { Sealer } from '@allium/store-sql'
import { sealVector, vectorsFromRows } from '@allium/store-sql/passages'
import type { Database } from '../database/database.ts'

/** The vectors of passages, beside them. */
export function postgresVectors(db: Database, sealer: Sealer): Pick<PassageStore, 'vectors' | 'putVectors'> {
  const passages = `join ${db.s}.passages p using (session, position)
    join ${db.s}.turns t using (tenant, owner, agent, session, seq)`
  const selectVectors = `select p.session, p.position, p.idx, t.turn_id, v.vector
    from unnest($4::text[], $5::integer[]) with ordinality as a (session, position, i) ${passages}
    join ${db.s}.passage_vectors v using (n) where ${ofScope} and v.model = $6 order by a.i`
  // A passage that is gone gets no vector, and one that is being deleted is waited for.
  const putVectors = `insert into ${db.s}.passage_vectors as v (n, model, vector)
    select p.n, $9, a.vector
    from unnest($4::text[], $5::integer[], $6::integer[], $7::text[], $8::bytea[]) as a (session, position, idx, turn_id, vector) ${passages}
    where ${ofScope} and p.idx = a.idx and t.turn_id = a.turn_id order by p.n for key share of p
    on conflict (n) do update set model = excluded.model, vector = excluded.vector`
  return {
    async vectors(scope, places, model) {
      const { tenant, owner, agent } = checkScope(scope)
      const checked = checkPlaces(places)
      checkVectorModel(model)
      const columns = [checked.map((one) => one.sessionId), checked.map((one) => one.position)]
      const rows = await db.queryIdempotent(selectVectors, tenant, owner, agent, ...columns, model)
      return vectorsFromRows(sealer, { tenant, owner }, rows)
    },
    async putVectors(scope, model, vectors) {
      const { tenant, owner, agent } = checkScope(scope)
      const all = [
        ...new Map(checkVectors(vectors).map((one) => [JSON.stringify([one.sessionId, one.position]), one])).values(),
      ]
      checkVectorModel(model)
      const sealed = await Promise.all(all.map((one) => sealVector(sealer, { tenant, owner }, one)))
      if (all.length === 0) return
      const place = [all.map((one) => one.sessionId), all.map((one) => one.position), all.map((one) => one.index)]
      await db.queryIdempotent(
        putVectors,
        tenant,
        owner,
        agent,
        ...place,
        all.map((one) => one.turnId),
        sealed,
        model,
      )
    },
  }
}

const ofScope = 'p.tenant = $1 and p.owner = $2 and p.agent = $3'
