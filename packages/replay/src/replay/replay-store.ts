import { memoryKeyValue } from '@allium/shared/resilience'
import type { AgentStore, Vault, VaultValues } from '@allium/store'
import { ReplayLedger } from './replay-ledger.ts'
import type { TurnToReplay } from './turn-to-replay.ts'

const unknownBalance = 'an account of the ledger has no recorded balance, so it counted from 0'

/**
 * Returns the store that the layers of a replayed turn find in place of the agent's. It writes nothing: the ledger answers as recorded, the
 * cache is empty, and the vault reads the values of the recorded session.
 */
export function replayStore(real: AgentStore, { recorded }: TurnToReplay, note: (text: string) => void): AgentStore {
  const { sessions, ledger, limits, keyValue, vault } = real
  return {
    sessions,
    ...((ledger !== undefined || limits !== undefined) && {
      ledger: new ReplayLedger(recorded.postings ?? [], () => note(unknownBalance)),
    }),
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
