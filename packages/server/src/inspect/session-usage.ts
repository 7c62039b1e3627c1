import type { Usage } from '@allium/core'
import type { SessionStore, SessionSummary } from '@allium/store'

/** The tokens and the cost of a session. */
export interface SessionUsageView {
  id: string
  tenant: string
  owner: string
  /** The number of stored runs. */
  runs: number
  updatedAt: number
  /** Absent if the agent has no `observe.usage()`. */
  tokens?: Usage
  /** In USD. */
  cost?: number
  /** The number of model calls with an unknown price, which the cost leaves out. */
  unpriced?: number
}

/** Returns the usage of a session, from the state that its last run left. */
export async function sessionUsage(
  sessions: Pick<SessionStore, 'head'>,
  { key, version, updatedAt }: SessionSummary,
): Promise<SessionUsageView> {
  const head = await sessions.head(key)
  const value = (name: string) => head?.rest.state[`observe:usage:${name}`]
  const [tokens, cost, unpriced] = [value('tokens'), value('cost'), value('unpriced')]
  return {
    id: key.sessionId,
    tenant: key.tenant,
    owner: key.owner,
    runs: version,
    updatedAt,
    ...(typeof tokens === 'object' && { tokens: tokens as Usage }),
    ...(typeof cost === 'number' && { cost }),
    ...(typeof unpriced === 'number' && { unpriced }),
  }
}
