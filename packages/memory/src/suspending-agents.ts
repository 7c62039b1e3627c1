import type { SessionKey } from '@allium/core'
import type { SessionStore, StoredSession } from '@allium/store'

/**
 * Returns the agents of suspended calls whose records name none, by call id. Earlier versions made such records; the run that
 * suspended the call names its agent.
 */
export async function suspendingAgents(
  store: SessionStore,
  key: SessionKey,
  { suspension }: StoredSession['rest'],
): Promise<Record<string, string>> {
  const agents: Record<string, string> = {}
  for (const [callId, { agent, turnId }] of Object.entries(suspension?.calls ?? {})) {
    if (agent !== undefined) continue
    const turn = await store.find(key, { turnId })
    if (turn !== undefined) agents[callId] = turn.agent
  }
  return agents
}
