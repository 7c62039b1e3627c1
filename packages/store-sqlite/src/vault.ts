import { bytesOf, type Vault, vaultPlace, vaultRow } from '@allium/store-sql'
import type { Parts } from './lists.ts'

/** Placeholders of sessions, in a SQLite file. */
export function sqliteVault({ db, sealer, renames, erasures, leases }: Parts): Vault {
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
    async save(key, values, by) {
      const place = vaultPlace(key)
      const [tenant, owner, agent, sessionId] = place
      const body = await sealer.seal(values, vaultRow(place))
      await db.writeTogether(() => {
        const token = erasures.tokenOf({ tenant, owner, agent, sessionId }, by, leases)
        db.run('insert or replace into vault values (?, ?, ?, ?, ?, ?, ?, ?)', ...place, body, agent, token)
      })
    },
  }
}
