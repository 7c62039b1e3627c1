import { api, type Identity } from './api.ts'
import { isOfSubAgent, sessionKey, type Turn } from './trace.ts'

/** A session in the list. */
export interface SessionItem {
  id: string
  tenant: string
  owner: string
  status: string
  updatedAt: number
  /** It is in the agent's own store: it can be read and copied, not continued. */
  isReadOnly?: boolean
}

export interface Tokens {
  inputTokens: number
  outputTokens: number
  /** Input tokens that the provider read from its cache; undefined if it does not count them. */
  cachedInputTokens?: number
  calls: number
}

/** A stored turn, as the server lists it. */
export interface StoredTurn {
  turnId: string
  rootId: string
  /** The agent that ran it. */
  agent: string
  resumes?: string
  status: string
  reason?: string
  code?: string
  startedAt: number
  endedAt?: number
  usage: Tokens
  /** The cost of the session after this turn, in USD. */
  sessionCost?: number
  messages: StoredMessage[]
  skipped: number
}

export interface StoredMessage {
  role: string
  content: string | StoredPart[]
  steer?: string
}

export interface StoredPart {
  type: string
  text?: string
  callId?: string
  name?: string
  args?: unknown
  content?: unknown
  isError?: boolean
  mediaType?: string
  filename?: string
  bytes?: number
  /** The hash of a file, by which it can be loaded. */
  file?: string
}

export interface PendingCall {
  callId: string
  name: string
  args: Record<string, unknown>
  token?: string
  client?: boolean
  expiresAt?: number
}

export interface Conversation {
  turns: StoredTurn[]
  pending: PendingCall[]
  running: boolean
  before?: number
  /** The code of the error if the content cannot be opened. */
  sealed?: string
  /** Why it could not be loaded. */
  fault?: string
}

/** Returns the tenant and the owner that a principal names, as the server reads them. */
export function ownerOf(principal: unknown): Pick<SessionItem, 'tenant' | 'owner'> {
  const { tenantId, tenant, userId, user } = (principal ?? {}) as Record<string, string | undefined>
  return { tenant: tenantId ?? tenant ?? '', owner: userId ?? user ?? '' }
}

/**
 * Returns the identity that owns a session: the principal of one of its turns, or the current one with its tenant and owner. The other
 * fields stay, because the agent's schema may need them.
 */
export function identityOf(
  item: Pick<SessionItem, 'id' | 'tenant' | 'owner' | 'isReadOnly'>,
  turns: readonly Turn[],
  current: Identity,
): Identity {
  if (item.isReadOnly === true) return current
  const info = turns.findLast((turn) => turn.info !== undefined)?.info
  return { ...current, principal: info?.principal ?? principalWith(item, current.principal) }
}

function principalWith({ tenant, owner }: Pick<SessionItem, 'tenant' | 'owner'>, current: unknown): unknown {
  const now = ownerOf(current)
  if (now.tenant === tenant && now.owner === owner) return current
  const { tenantId: _tenantId, tenant: _tenant, user: _user, ...rest } = (current ?? {}) as Record<string, unknown>
  return { ...rest, ...(tenant !== '' && { tenantId: tenant }), userId: owner }
}

export async function listSessions(identity: Identity): Promise<SessionItem[]> {
  return (await api<{ sessions: SessionItem[] }>('/inspect/sessions?limit=100', identity)).sessions
}

/** Lists the sessions of the agent's own store, in the tenant of the principal. */
export async function listReadOnly(identity: Identity): Promise<SessionItem[]> {
  const { sessions } = await api<{ sessions: SessionItem[] }>('/inspect/read-only/sessions?limit=100', identity)
  return sessions.map((item) => ({ ...item, isReadOnly: true }))
}

/** Copies a session of the agent's own store to a new session of the principal. */
export async function copySession(
  item: SessionItem,
  identity: Identity,
  { id, at }: { id: string; at: string },
): Promise<void> {
  await api(`${pathOf(item)}/copy?owner=${encodeURIComponent(item.owner)}`, identity, { id, at })
}

export function ownerName({ tenant, owner }: Pick<SessionItem, 'tenant' | 'owner'>): string {
  return tenant === '' ? owner : `${owner} of ${tenant}`
}

/** Identifies a session among those of all owners and both stores. */
export function itemKey({ id, isReadOnly, ...of }: SessionItem): string {
  return `${isReadOnly === true ? 'read-only ' : ''}${sessionKey({ ...of, sessionId: id })}`
}

/** The path of a session among the routes of the inspector. */
export function pathOf({ id, isReadOnly }: Pick<SessionItem, 'id' | 'isReadOnly'>): string {
  return `/inspect/${isReadOnly === true ? 'read-only/' : ''}sessions/${encodeURIComponent(id)}`
}

export async function loadConversation(item: SessionItem, identity: Identity, before?: number): Promise<Conversation> {
  const query = `owner=${encodeURIComponent(item.owner)}${before === undefined ? '' : `&before=${before}`}`
  return api<Conversation>(`${pathOf(item)}/turns?${query}`, identity)
}

/** Adds the sessions of turns that arrived live to the list, most recently changed first. */
export function mergeSessions(listed: readonly SessionItem[], turns: Iterable<Turn>): SessionItem[] {
  const items = new Map(listed.map((item) => [sessionKey({ ...item, sessionId: item.id }), item]))
  for (const turn of turns) {
    if (isOfSubAgent(turn)) continue
    const { sessionId: id, tenant, owner, status, info } = turn
    const key = sessionKey(turn)
    const known = items.get(key)
    const updatedAt = info?.startedAt ?? turn.events[0]?.at ?? 0
    if (known === undefined || known.updatedAt <= updatedAt || status === 'running')
      items.set(key, { id, tenant, owner, status, updatedAt: Math.max(updatedAt, known?.updatedAt ?? 0) })
  }
  return [...items.values()].sort((a, b) => b.updatedAt - a.updatedAt)
}
