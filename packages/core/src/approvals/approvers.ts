import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { cloneJson, freezeJson } from '../messages/json.ts'
import type { Identity } from '../messages/message.ts'
import type { RegisteredPrincipal } from '../ports/register.ts'
import { identityOf, operators, ownerOf, tenantOf } from '../ports/tenant.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import type { PendingCall } from '../state/snapshot.ts'
import { pendingCalls } from '../state/suspension.ts'
import type { DecidableCall, Decision } from '../tool/approval.ts'

/** The principal who makes a decision. */
export interface Approver {
  readonly principal: unknown
  readonly by: Identity
}

/**
 * Returns the approver of a run's calls. For a sub-agent's calls it is the parent's approver. Otherwise it is the given
 * principal, or the session's own.
 *
 * @throws AlliumError `session.principal` if the given principal has no user, `approval.forbidden` if it belongs to
 * another tenant
 */
export function approverOf(session: SessionScope, given: unknown): Approver {
  const parentApprover = session.parent?.$turn.options.resume?.approver
  if (parentApprover !== undefined) return parentApprover
  const principal = given ?? session.principal
  if (given !== undefined && ownerOf(given) === undefined)
    throw new AlliumError(
      'session.principal',
      `An approver is a principal with a userId, not ${describe(given)}. Pass the authenticated user.`,
    )
  if (tenantOf(principal) !== tenantOf(session.principal)) throw forbidden('is of another tenant')
  return { principal, by: operators.get(principal as object) ?? identityOf(principal) }
}

/** @throws AlliumError `approval.forbidden` unless the approver may make this decision on the call */
export async function checkRight(
  session: SessionScope,
  approver: Approver,
  call: PendingCall,
  decision: Decision,
): Promise<void> {
  if (session.parent !== undefined) return
  if ('deny' in decision && (operators.has(approver.principal as object) || owns(session, approver))) return
  if ('result' in decision && !owns(session, approver)) throw forbidden(`does not run the call "${call.callId}"`)
  if ('result' in decision) return
  const asWell = 'args' in decision ? [call, { ...call, args: decision.args }] : [call]
  for (const one of asWell)
    if (!(await allows(session, approver, one))) throw forbidden(`may not decide the call "${call.callId}"`)
}

/** Returns the calls that a principal may approve, with their tokens and true values. */
export async function decidable(session: SessionScope, principal: unknown): Promise<PendingCall[]> {
  const approver = { principal, by: identityOf(principal) }
  if (tenantOf(principal) !== tenantOf(session.principal)) return []
  const allowed: PendingCall[] = []
  for (const call of pendingCalls(session.ownPending, session.suspension))
    if (await allows(session, approver, call)) allowed.push(call)
  return allowed
}

/**
 * Whether a principal may decide the call: by the agent's rule, or if it has none, only the owner. A rule that throws
 * means no.
 */
async function allows(session: SessionScope, approver: Approver, call: PendingCall): Promise<boolean> {
  const { approvals, logger } = session.agent.setup
  if (approvals.canApprove === undefined || call.client === true) return owns(session, approver)
  const { callId, name, args, request, path } = call
  const shown = freezeJson(cloneJson({ callId, name, args, request, path })) as DecidableCall
  const [outer] = callId.split('/', 1) as [string]
  const requestedBy = (session.suspension?.calls[callId] ?? session.suspension?.calls[outer])?.requestedBy ?? {}
  try {
    return (
      (await approvals.canApprove(approver.principal as RegisteredPrincipal, shown, {
        owner: session.owner,
        requestedBy,
      })) === true
    )
  } catch (error) {
    logger.error(`approvals.canApprove failed for the call "${callId}"; access denied.`, { error })
    return false
  }
}

function owns(session: SessionScope, { principal }: Approver): boolean {
  return session.ownerBy(principal) === session.owner
}

function forbidden(why: string): AlliumError {
  return new AlliumError(
    'approval.forbidden',
    `The approver ${why}. Nothing changed. session.pendingFor(principal) returns the calls that a user may decide.`,
  )
}
