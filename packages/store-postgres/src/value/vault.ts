import { erasedDuringRun, parseVaultKey, type Sealer, toBytes, type Vault, vaultContext } from '@allium/store-sql'
import { checkCombinedLength } from '../database/combined-length.ts'
import type { Database } from '../database/database.ts'
import { writerSince } from '../lease/leases.ts'

/** The values of placeholders by session, in Postgres. */
export function postgresVault(db: Database, sealer: Sealer): Vault {
  const parseKey = (key: string) => {
    const keyParts = parseVaultKey(key)
    checkCombinedLength('parts of the key of the vault', keyParts)
    return keyParts
  }
  return {
    async load(key) {
      const keyParts = parseKey(key)
      const [row] = await db.queryIdempotent(
        `select body, sealed_as from ${db.s}.vault
         where tenant = $1 and owner = $2 and agent = $3 and session = $4 and layer = $5`,
        ...keyParts,
      )
      if (row === undefined) return undefined
      return (await sealer.open(toBytes(row.body), vaultContext(keyParts, String(row.sealed_as)))) as Record<
        string,
        string
      >
    },
    async save(key, values, by) {
      const keyParts = parseKey(key)
      const body = await sealer.seal(values, vaultContext(keyParts))
      const isStored = await db.call('save_vault', ...keyParts, body, ...(await writerSince(db, by)))
      if (isStored !== true) throw erasedDuringRun()
    },
  }
}
