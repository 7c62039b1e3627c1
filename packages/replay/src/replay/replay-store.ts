import { memoryKeyValue } from '@allium/shared/resilience'
import type { AgentStore, Vault, VaultValues } from '@allium/store'
import type { TurnToReplay } from './replay.ts'
import { ReplayLedger } from './replay-ledger.ts'

/**
 * Returns the store that the layers of a replayed turn find in place of the agent's. It writes nothing: the ledger answers as recorded, the
 * cache is empty, and the vault reads the values of the recorded session.
 */
export function replayStore(real: AgentStore, { recorded }: TurnToReplay): AgentStore {
  const { sessions, ledger, limits, keyValue, vault } = real
  return {
    sessions,
    ...((ledger !== undefined || limits !== undefined) && { ledger: new ReplayLedger(recorded.postings ?? []) }),
    ...(keyValue !== undefined && { keyValue: memoryKeyValue() }),
    ...(vault !== undefined && { vault: readOnly(vault) }),
  }
}

function readOnly(vault: Vault): Vault {
  const own = new Map<string, VaultValues>()
  return {
    load: (key) => own.get(key) ?? vault.load(key),
    save: (key, values) => void own.set(key, values),
  }
}
