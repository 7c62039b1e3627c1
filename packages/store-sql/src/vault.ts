import { AlliumError, type Writer } from '@allium/core'
import type { EncryptionContext } from './encryption.ts'
import { checkKey, checkName } from './key.ts'

/** Stores the values of a session's placeholders: `vault` of `guard.pii`. */
export interface Vault {
  /** @param key from `guard.pii`: the layer's name and the session's key */
  load(key: string): Promise<Readonly<Record<string, string>> | undefined>
  /** Replaces all values of the session. @throws AlliumError `store.fenced` when it was erased after the run of `by` began */
  save(key: string, values: Readonly<Record<string, string>>, by?: Writer): Promise<void>
}

type VaultKeyParts = readonly [tenant: string, owner: string, agent: string, session: string, layer: string]

/**
 * Parses a vault key, so that the data of a tenant, an owner or a session can be found and erased.
 *
 * @throws AlliumError `store.key` when the key is invalid
 */
export function parseVaultKey(key: string): VaultKeyParts {
  const [tenant, owner, agent, sessionId, layer] = splitVaultKey(key)
  checkKey({ tenant, owner, agent, sessionId })
  return [tenant, owner, agent, sessionId, checkName('name of the layer', layer)]
}

/** Returns the sealing context of the values. @param sealedAs the session's agent at that time, which a rename does not change */
export function vaultContext(
  [tenant, owner, agent, session, layer]: VaultKeyParts,
  sealedAs = agent,
): EncryptionContext {
  return { tenant, row: JSON.stringify(['vault', owner, sealedAs, session, layer]) }
}

/** Only the real list parses up to the end. One that begins inside its texts would have an unmatched quote. */
function splitVaultKey(key: string): VaultKeyParts {
  for (let at = key.lastIndexOf(':['); at >= 0; at = at === 0 ? -1 : key.lastIndexOf(':[', at - 1)) {
    const list = parseList(key.slice(at + 1))
    if (list !== undefined) return [...list, key.slice(0, at)]
  }
  throw new AlliumError(
    'store.key',
    'The vault key does not name a session. Pass a key as guard.pii makes it: its name, ":", and a JSON array of tenant, owner, agent and session id.',
  )
}

function parseList(text: string): [string, string, string, string] | undefined {
  try {
    const list: unknown = JSON.parse(text)
    const isSessionList = Array.isArray(list) && list.length === 4 && list.every((part) => typeof part === 'string')
    return isSessionList ? (list as [string, string, string, string]) : undefined
  } catch {
    return undefined
  }
}
