import { memoryKeyValue } from '@allium/shared/resilience'
import type { AgentStore, Vault, VaultValues } from '@allium/store'
import type { TurnToReplay } from './replay.ts'
import { ReplayLedger } from './replay-ledger.ts'

/**
 * Returns the store that the layers of a replayed turn find in place of the agent's. It writes nothing: the ledger answers as recorded, the
 * cache is empty, and the vault reads the values of the recorded session.
 *
 * @param sessionId the id of the session that runs the replay
 */
export function replayStore(real: AgentStore, { recorded, key }: TurnToReplay, sessionId: string): AgentStore {
  const nameOf = (name: string) => name.replaceAll(sessionId, key.sessionId)
  const { sessions, ledger, limits, keyValue, vault } = real
  return {
    sessions,
    ...((ledger !== undefined || limits !== undefined) && { ledger: new ReplayLedger(recorded.postings ?? [], nameOf) }),
    ...(keyValue !== undefined && { keyValue: memoryKeyValue() }),
    ...(vault !== undefined && { vault: readOnly(vault, nameOf) }),
  }
}

function readOnly(vault: Vault, nameOf: (key: string) => string): Vault {
  const own = new Map<string, VaultValues>()
  return {
    load: (key) => own.get(key) ?? vault.load(nameOf(key)),
    save: (key, values) => void own.set(key, values),
  }
}
