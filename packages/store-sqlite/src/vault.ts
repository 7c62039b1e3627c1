import { bytesOf, type Sealer, type Vault, vaultPlace, vaultRow } from '@allium/store-sql'
import type { Database } from './database.ts'
import type { Renames } from './renames.ts'

/** Placeholders of sessions, in a SQLite file. */
export function sqliteVault(db: Database, sealer: Sealer, renames: Renames): Vault {
  return {
    async load(key) {
      const place = vaultPlace(key)
      const [tenant, owner, , sessionId] = place
      await renames.claim({ tenant, owner, sessionId })
      const row = db.get(
        'select body, sealed_as from vault where tenant = ? and owner = ? and agent = ? and session = ? and layer = ?',
        ...place,
      )
      if (row === undefined) return undefined
      return (await sealer.open(bytesOf(row.body), vaultRow(place, String(row.sealed_as)))) as Record<string, string>
    },
    async save(key, values) {
      const place = vaultPlace(key)
      const body = await sealer.seal(values, vaultRow(place))
      await db.writeTogether(() => {
        db.run('insert or replace into vault values (?, ?, ?, ?, ?, ?, ?)', ...place, body, place[2])
      })
    },
  }
}
