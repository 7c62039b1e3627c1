import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import type { Identity } from '../messages/message.ts'
import type { SessionKey } from './session-store.ts'

/** Returns the parts of a principal that are stored with an action: its tenant and user, and nothing else. */
export function identityOf(principal: unknown): Identity {
  const [tenantId, userId] = [tenantOf(principal), ownerOf(principal)]
  return { ...(tenantId !== undefined && { tenantId }), ...(userId !== undefined && { userId }) }
}

/**
 * Returns the tenant of a principal: its `tenantId`, else its `tenant`. It is part of approvals and store keys.
 *
 * @throws AlliumError `session.principal` if it is neither a plain text nor a safe integer
 */
export function tenantOf(principal: unknown): string | undefined {
  return idIn(principal, 'tenantId', 'tenant')
}

/**
 * Returns the user id of a principal: its `userId`, else its `user`. Used for all counts and data per user.
 *
 * @throws AlliumError `session.principal` if it is neither a text nor a safe integer
 */
export function ownerOf(principal: unknown): string | undefined {
  return idIn(principal, 'userId', 'user')
}

/** Returns the key of a session as one text, unique among sessions: a list in JSON. */
export function sessionKeyOf({
  sessionKey: { tenant, owner, agent, sessionId },
}: Pick<SessionPlace, 'sessionKey'>): string {
  return JSON.stringify([tenant, owner, agent, sessionId])
}

/** The session fields of a context. */
export interface SessionPlace {
  readonly principal: unknown
  readonly sessionKey: SessionKey
}

/** Returns the first field that is set. Rejects ids of other types: treating them as missing would share data between them. */
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

/** Control characters and lone surrogates, which a log, a path or a database would change. */
const unprintable = /[\p{Cc}\p{Surrogate}]/u

function describeId(id: unknown): string {
  if (typeof id === 'string') return JSON.stringify(id.slice(0, 60))
  return typeof id === 'bigint' ? `the bigint ${id}n` : describe(id)
}

/**
 * Operators of durable runs, as approvers, with the identity to record: they may deny any call of their tenant. Only code of this process
 * can add one.
 */
export const operators = new WeakMap<object, Identity>()
