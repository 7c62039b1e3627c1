import type { AgentContext } from '@allium/core'

/**
 * Makes the agent give its next sessions a certain id. Layers may derive texts and keys from it, and a session that is created with an id
 * would be stored.
 */
export function useSessionId(ctx: AgentContext, id: () => string): void {
  const { $agent: agent } = ctx as { $agent?: { setup: { ids: () => string } } }
  if (agent !== undefined) agent.setup.ids = id
}
