import { parseVaultKey, toBytes, type Vault, vaultContext } from '@allium/store-sql'
import type { StoreParts } from '../store-parts.ts'

/** The values of placeholders by session, in a SQLite file. */
export function sqliteVault({ db, sealer, writers }: StoreParts): Vault {
  return {
    async load(key) {
      const keyParts = parseVaultKey(key)
      const row = db.get(
        'select body, sealed_as from vault where tenant = ? and owner = ? and agent = ? and session = ? and layer = ?',
        ...keyParts,
      )
      if (row === undefined) return undefined
      return (await sealer.open(toBytes(row.body), vaultContext(keyParts, String(row.sealed_as)))) as Record<
        string,
        string
      >
    },
    async save(key, values, by) {
      const keyParts = parseVaultKey(key)
      const [tenant, owner, agent, sessionId] = keyParts
      const body = await sealer.seal(values, vaultContext(keyParts))
      await db.writeInGroup(() => {
        const token = writers.token({ tenant, owner, agent, sessionId }, by)
        db.run('insert or replace into vault values (?, ?, ?, ?, ?, ?, ?, ?)', ...keyParts, body, agent, token)
      })
    },
  }
}
