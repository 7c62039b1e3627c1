import { AlliumError } from '../errors/allium-error.ts'
import { checkSchema } from '../errors/check-schema.ts'
import { isPrintable } from '../errors/describe.ts'
import { tenantOf } from '../ports/tenant.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import type { AgentSetup } from './scope/agent-scope.ts'

/** Returns the principal of a session as the agent's schema parses it. @throws AlliumError `session.principal` */
export function checkPrincipal({ principal: schema }: AgentSetup, principal: unknown): unknown {
  return checkSchema(schema, principal, { what: 'The principal', code: 'session.principal' })
}

/** Throws `session.principal` if the owner is unclear, before anything is stored under a wrong name. */
export function checkPlace({ principal, owner }: SessionScope): void {
  tenantOf(principal)
  void owner
}

/** Checks a session id, because it becomes part of store keys and logs. */
export function checkSessionId(id: unknown): string {
  if (typeof id === 'string' && id.length > 0 && id.length <= 256 && isPrintable(id)) return id
  const given = typeof id === 'string' ? `one of ${id.length} characters` : String(id)
  throw new AlliumError(
    'session.invalid_id',
    `A session id takes 1 to 256 characters without control characters or lone surrogates, not ${given}.`,
  )
}
