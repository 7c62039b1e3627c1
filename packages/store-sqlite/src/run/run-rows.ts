import type { SessionKey } from '@allium/core'
import type { RunningAgent } from '@allium/store'
import type { Row, Value } from '../database/database.ts'

export const sessionJoin =
  's.tenant = r.tenant and s.owner = r.owner and s.agent = r.session_agent and s.id = r.session'

/** Its parameters are the boot and the time. */
export const sessionIsFree =
  '(s.run is null or s.run = r.run) and (s.held_until is null or s.boot <> ? or s.held_until <= ?)'

export function isLive({ status }: Row): boolean {
  return status === 'queued' || status === 'running'
}

export function keyFromRow({ tenant, owner, session_agent: agent, session }: Row): SessionKey {
  return { tenant: String(tenant), owner: String(owner), agent: String(agent), sessionId: String(session) }
}

/** Returns the names of agents, each once. */
export function agentNames(agents: readonly RunningAgent[]): string[] {
  return [...new Set(agents.map(({ name }) => name))]
}

export function agentParams(agents: readonly RunningAgent[]): Value {
  return JSON.stringify(agents.map(({ name, version }) => [name, version]))
}
