import type { PassageStore } from '@allium/store'
import { checkScopeOwner, checkSwitch } from '@allium/store/passages'
import { memoryOffFromRows } from '@allium/store-sql/passages'
import type { StoreParts } from '../store-parts.ts'
import { selectOff } from './add-passages.ts'

/** The switch of memory, beside the key of an owner. */
export function sqliteMemorySwitch({ db, writers }: StoreParts): Pick<PassageStore, 'off' | 'setOff'> {
  return {
    async off(of) {
      const { tenant, owner } = checkScopeOwner(of)
      return memoryOffFromRows(db.all(selectOff, tenant, owner))
    },
    async setOff(of, at, by) {
      const { tenant, owner } = checkSwitch(of, at)
      await db.writeInGroup(() => {
        if (by !== undefined) writers.token({ tenant, owner }, by)
        db.run(setOff, tenant, owner, at ?? null)
      })
    },
  }
}

const setOff = `insert into scopes (tenant, owner, off) values (?, ?, ?) on conflict do update set off = excluded.off`
