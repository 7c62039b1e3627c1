import { bytesOf, checkTogether, type Sealer, type Vault, vaultPlace, vaultRow } from '@allium/store-sql'
import type { Database } from './database.ts'

/** Placeholders of sessions, in Postgres. */
export function postgresVault(db: Database, sealer: Sealer): Vault {
  const placeOf = (key: string) => {
    const place = vaultPlace(key)
    checkTogether('parts of the key of the vault', place)
    return place
  }
  return {
    async load(key) {
      const place = placeOf(key)
      const [row] = await db.repeatable(
        `select body from ${db.s}.vault where tenant = $1 and owner = $2 and session = $3 and layer = $4`,
        ...place,
      )
      if (row === undefined) return undefined
      return (await sealer.open(bytesOf(row.body), vaultRow(place))) as Record<string, string>
    },
    async save(key, values) {
      const place = placeOf(key)
      const body = await sealer.seal(values, vaultRow(place))
      await db.repeatable(
        `insert into ${db.s}.vault values ($1, $2, $3, $4, $5)
         on conflict (tenant, owner, session, layer) do update set body = excluded.body`,
        ...[...place, body],
      )
    },
  }
}
