import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import type { Identity } from '../messages/approval-record.ts'
import type { SessionKey } from './session-store.ts'

/** What is kept of who did something: of a principal its tenant and user, and nothing else. */
export function identityOf(principal: unknown): Identity {
  const [tenantId, userId] = [tenantOf(principal), ownerOf(principal)]
  return { ...(tenantId !== undefined && { tenantId }), ...(userId !== undefined && { userId }) }
}

/**
 * The tenant that a principal belongs to: its `tenantId`, else its `tenant`. Approvals and store keys carry it.
 *
 * @throws AlliumError `session.principal` where that is neither a plain text nor a safe integer
 */
export function tenantOf(principal: unknown): string | undefined {
  return idIn(principal, 'tenantId', 'tenant')
}

/**
 * The user that a principal is: its `userId`, else its `user`. What counts or is kept per user goes by it.
 *
 * @throws AlliumError `session.principal` where that is neither a text nor a safe integer
 */
export function ownerOf(principal: unknown): string | undefined {
  return idIn(principal, 'userId', 'user')
}

/** Returns the key of a session as one text, which differs from that of every other session: a list in JSON. */
export function sessionKeyOf({
  sessionKey: { tenant, owner, agent, sessionId },
}: Pick<SessionPlace, 'sessionKey'>): string {
  return JSON.stringify([tenant, owner, agent, sessionId])
}

/**
 * Who shares what is kept per tenant, user or session, for a key in a store. Who is not known shares with nobody: without the
 * tenant or user that it is kept for, it is the session's. What a tenant or a user shares is shared by all agents.
 *
 * @throws AlliumError `session.principal` as {@link tenantOf}
 */
export function sharersOf(source: SessionPlace, per: 'tenant' | 'user' | 'session'): readonly unknown[] {
  const tenant = tenantOf(source.principal)
  if (per === 'tenant' && tenant !== undefined) return ['tenant', tenant]
  const user = per === 'user' ? ownerOf(source.principal) : undefined
  return user === undefined ? ['session', sessionKeyOf(source)] : ['user', tenant ?? null, user]
}

/** What a context tells of its session. */
export interface SessionPlace {
  readonly principal: unknown
  readonly sessionKey: SessionKey
}

/** The first field that is there. An id of another kind must not pass for none: those who have none share. */
function idIn(principal: unknown, ...fields: string[]): string | undefined {
  if (typeof principal !== 'object' || principal === null) return undefined
  for (const field of fields) {
    const id = (principal as Record<string, unknown>)[field]
    if (id === undefined || id === null || id === '') continue
    if (Number.isSafeInteger(id) || (typeof id === 'string' && !unprintable.test(id))) return String(id)
    throw new AlliumError(
      'session.principal',
      `The ${field} of the principal is ${describeId(id)}, which is not a valid id. Use a string without control characters or lone surrogates, or a safe integer, or omit it.`,
      { details: { field } },
    )
  }
  return undefined
}

/** Control characters, and halves of others: what a log, a path or a database would change. */
const unprintable = /[\p{Cc}\p{Surrogate}]/u

function describeId(id: unknown): string {
  if (typeof id === 'string') return JSON.stringify(id.slice(0, 60))
  return typeof id === 'bigint' ? `the bigint ${id}n` : describe(id)
}
