import type { PassageStore } from '@allium/store'
import { checkPlaces, checkScope, checkVectorModel, checkVectors } from '@allium/store/passages'
import { sealVector, vectorsFromRows } from '@allium/store-sql/passages'
import type { Row } from '../database/database.ts'
import type { StoreParts } from '../store-parts.ts'

/** The vectors of passages, beside them. */
export function sqliteVectors({ db, sealer }: StoreParts): Pick<PassageStore, 'vectors' | 'putVectors'> {
  return {
    async vectors(scope, places, model) {
      const { tenant, owner, agent } = checkScope(scope)
      const checked = checkPlaces(places)
      checkVectorModel(model)
      const rows = db.read(() =>
        checked.flatMap(({ sessionId, position }): Row[] =>
          db.all(selectVector, tenant, owner, agent, sessionId, position, model),
        ),
      )
      return vectorsFromRows(sealer, { tenant, owner }, rows)
    },
    async putVectors(scope, model, vectors) {
      const { tenant, owner, agent } = checkScope(scope)
      const checked = checkVectors(vectors)
      checkVectorModel(model)
      const sealed = await Promise.all(checked.map((one) => sealVector(sealer, { tenant, owner }, one)))
      if (checked.length === 0) return
      await db.writeInGroup(() => {
        for (const [i, { sessionId, position, turnId, index }] of checked.entries())
          db.run(
            putVector,
            ...[tenant, owner, agent, sessionId, position, index, turnId, model],
            sealed[i] as Uint8Array,
          )
      })
    },
  }
}

const passageOf = `passages p
  join turns t on t.tenant = p.tenant and t.owner = p.owner and t.agent = p.agent and t.session = p.session and t.seq = p.seq`
const atPlace = 'p.tenant = ?1 and p.owner = ?2 and p.agent = ?3 and p.session = ?4 and p.position = ?5'

const selectVector = `select p.session, p.position, p.idx, t.turn_id, v.vector from ${passageOf}
  join passage_vectors v on v.n = p.n where ${atPlace} and v.model = ?6`

/** A passage that is gone gets no vector. */
const putVector = `insert into passage_vectors (n, model, vector)
  select p.n, ?8, ?9 from ${passageOf} where ${atPlace} and p.idx = ?6 and t.turn_id = ?7
  on conflict do update set model = excluded.model, vector = excluded.vector`
