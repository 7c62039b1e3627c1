import { parseVaultKey, toBytes, type Vault, vaultContext } from '@allium/store-sql'
import type { StoreParts } from './session-lists.ts'

/** The values of placeholders by session, in a SQLite file. */
export function sqliteVault({ db, sealer, erasures, leases }: StoreParts): Vault {
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
        const token = erasures.writerToken({ tenant, owner, agent, sessionId }, by, leases)
        db.run('insert or replace into vault values (?, ?, ?, ?, ?, ?, ?, ?)', ...keyParts, body, agent, token)
      })
    },
  }
}
