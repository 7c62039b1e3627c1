import type { PassageStore } from '@allium/store'
import { checkScopeOwner, checkSwitch } from '@allium/store/passages'
import { erasedDuringRun } from '@allium/store-sql'
import { memoryOffFromRows } from '@allium/store-sql/passages'
import { checkCombinedLength } from '../database/combined-length.ts'
import type { Database } from '../database/database.ts'
import { writerSince } from '../lease/leases.ts'

/** Selects the switches of a person, $2, and their tenant, $1. @param s the schema */
export const selectOff = (s: string) =>
  `select owner, off from ${s}.scopes where tenant = $1 and owner in ($2, '') and off is not null`

/** The switch of memory, beside the key of an owner. */
export function postgresMemorySwitch(db: Database): Pick<PassageStore, 'off' | 'setOff'> {
  return {
    async off(of) {
      const { tenant, owner } = checkScopeOwner(of)
      return memoryOffFromRows(await db.queryIdempotent(selectOff(db.s), tenant, owner))
    },
    async setOff(of, at, by) {
      const { tenant, owner } = checkSwitch(of, at)
      checkCombinedLength('tenant and owner', [tenant, owner])
      const sql = `select ${db.s}.set_memory_off($1, $2, $3, $4, $5, $6) as is_set`
      const values = [tenant, owner, at ?? null, by !== undefined, ...(await writerSince(db, by))]
      const [row] = await db.queryIdempotent(sql, ...values)
      if (row?.is_set !== true) throw erasedDuringRun()
    },
  }
}
