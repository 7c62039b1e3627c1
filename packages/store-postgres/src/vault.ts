import { bytesOf, checkTogether, erasedSince, type Sealer, type Vault, vaultPlace, vaultRow } from '@allium/store-sql'
import type { Database } from './database.ts'
import { since } from './leases.ts'
import type { Renames } from './renames.ts'

/** Placeholders of sessions, in Postgres. */
export function postgresVault(db: Database, sealer: Sealer, renames: Renames): Vault {
  const placeOf = (key: string) => {
    const place = vaultPlace(key)
    checkTogether('parts of the key of the vault', place)
    return place
  }
  return {
    async load(key) {
      const place = placeOf(key)
      const [tenant, owner, , sessionId] = place
      await renames.claim({ tenant, owner, sessionId })
      const [row] = await db.repeatable(
        `select body, sealed_as from ${db.s}.vault
         where tenant = $1 and owner = $2 and agent = $3 and session = $4 and layer = $5`,
        ...place,
      )
      if (row === undefined) return undefined
      return (await sealer.open(bytesOf(row.body), vaultRow(place, String(row.sealed_as)))) as Record<string, string>
    },
    async save(key, values, by) {
      const place = placeOf(key)
      const body = await sealer.seal(values, vaultRow(place))
      const sql = `select ${db.s}.save_vault($1, $2, $3, $4, $5, $6, $7, $8) as saved`
      const [row] = await db.repeatable(sql, ...place, body, ...(await since(db, by)))
      if (row?.saved !== true) throw erasedSince()
    },
  }
}
