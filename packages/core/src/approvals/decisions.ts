import { AlliumError } from '../errors/allium-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { describe } from '../errors/describe.ts'
import { formatIssues } from '../errors/issues.ts'
import { cloneJson, equalJson, isRecord } from '../messages/json.ts'
import type { ApprovalRecord } from '../messages/message.ts'
import { digestOf, isSealOf, sameSeal, sealOf } from '../ports/seal.ts'
import { tenantOf } from '../ports/tenant.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import type { PendingCall, SuspendedCall } from '../state/snapshot.ts'
import { bindingOf, pendingCalls } from '../state/suspension.ts'
import type { Decision } from '../tool/approval.ts'
import { checkArgs } from '../tool/check-args.ts'
import type { ToolRegistry } from '../tool/registry.ts'
import type { Resume } from '../turn/turn-options.ts'
import { type Approver, approverOf, checkRight } from './approvers.ts'

/** Valid decisions, with the ids of the calls in this session that they apply to. */
type Checked = Resume & { callIds: ReadonlySet<string> }

/** Marks decisions as used, all or none. @throws AlliumError `approval.used` */
export function useDecisions(session: SessionScope, { callIds, ...resume }: Checked): Resume {
  for (const outer of callIds) checkUnused(session, outer)
  for (const outer of callIds) session.usedApprovals.add(usedKey(session.suspension?.calls[outer], outer))
  return resume
}

/**
 * Validates decisions against the pending calls, without using them.
 *
 * @param by the approver; by default the session's own principal
 * @throws AlliumError `approval.unknown`, `approval.invalid`, `approval.used`, `approval.expired`, `approval.changed`,
 * `approval.forged`, `approval.forbidden`
 */
export async function checkedDecisions(
  session: SessionScope,
  given: unknown,
  by: unknown,
  tools: ToolRegistry,
): Promise<Checked> {
  const approver = approverOf(session, by)
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    fail('approval.invalid', `resume() takes decisions by call id, not ${describe(given)}. ${form}`)
  if (Object.keys(given).length === 0) fail('approval.invalid', `resume() got no decision. ${describePending(session)}`)
  const decisions = new Map<string, Decision>()
  const records = new Map<string, DecisionRecord>()
  const decidables = decidableCalls(session)
  const callIds = new Set<string>()
  for (const [callId, decision] of Object.entries(given as Record<string, unknown>)) {
    const call = decidableCall(session, decidables, callId)
    checkUnused(session, call.outer)
    const checked = checkShape(callId, decision)
    decisions.set(callId, checked)
    // An approver without permission never received a token, so report the missing permission first.
    const hasToken = checked.token !== undefined
    if (!hasToken) await checkRight(session, approver, call.pending, checked)
    await checkCall(session, callId, checked, { ...call, tools })
    if (hasToken) await checkRight(session, approver, call.pending, checked)
    if (!call.inside && !('result' in checked)) records.set(callId, await recordOf(session, approver, checked))
    callIds.add(call.outer)
  }
  return { suspension: session.suspension, decisions, records, approver, callIds }
}

/**
 * Returns the record of a decision. For edited arguments it contains a digest, but only with a secret, because
 * otherwise the arguments could be guessed from it.
 */
async function recordOf({ agent }: SessionScope, { by }: Approver, decision: Decision): Promise<DecisionRecord> {
  const { secret } = agent.setup.approvals
  if ('deny' in decision) return { decision: 'denied', by }
  if (!('args' in decision)) return { decision: 'approved', by }
  return { decision: 'edited', by, ...(secret !== undefined && { digest: await sealOf(decision.args, secret) }) }
}
type DecisionRecord = Omit<ApprovalRecord, 'at'>

/** A call that can be decided: one of this session, or one of a sub-agent that such a call runs. */
interface Decidable {
  outer: string
  inside: boolean
  pending: PendingCall
}

/**
 * Returns the decidable calls by the ids in `session.pending`. An id may contain a "/" itself. It is a path only if a
 * sub-agent is suspended.
 */
function decidableCalls({ history, suspension }: SessionScope): Map<string, Decidable[]> {
  const decidables = new Map<string, Decidable[]>()
  for (const part of history.pending())
    for (const pending of pendingCalls([part], suspension)) {
      const { callId, path } = pending
      const one = { outer: part.callId, inside: path !== undefined, pending }
      const same = decidables.get(callId)
      if (same === undefined) decidables.set(callId, [one])
      else same.push(one)
    }
  return decidables
}

function checkUnused(session: SessionScope, callId: string): void {
  const record = session.suspension?.calls[callId]
  const used = session.usedApprovals
  if (record === undefined ? ![...used].some((key) => key.endsWith(`#${callId}`)) : !used.has(usedKey(record, callId)))
    return
  fail('approval.used', `The call "${callId}" was decided before. A decision is used once.`)
}

function describePending({ pending }: SessionScope): string {
  if (pending.length === 0) return 'No call waits. Check the id and principal of the session.'
  return `Pending: ${pending.map((call) => `"${call.callId}"`).join(', ')}. ${form}`
}

const form = 'A decision is { approve: true }, { deny: "why" } or { args: { … } }.'

function decidableCall(session: SessionScope, decidables: ReadonlyMap<string, Decidable[]>, callId: string): Decidable {
  const [call, another] = decidables.get(callId) ?? []
  if (another !== undefined)
    fail(
      'approval.invalid',
      `Two pending calls have the id "${callId}", one of them in a sub-agent. Run the turn again.`,
    )
  if (call !== undefined) return call
  checkUnused(session, callId)
  fail('approval.unknown', `No call ${describe(callId)} waits for a decision. ${describePending(session)}`)
}

function checkShape(callId: string, value: unknown): Decision {
  const {
    approve,
    deny,
    args,
    result,
    isError,
    token,
    data: _,
    ...rest
  } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  const forms = [
    approve === true,
    typeof deny === 'string',
    isRecord(args),
    result !== undefined && (isError === undefined || typeof isError === 'boolean'),
  ]
  const given = [approve, deny, args, result].filter((one) => one !== undefined)
  const known =
    Object.keys(rest).length === 0 &&
    (isError === undefined || result !== undefined) &&
    (token === undefined || typeof token === 'string')
  if (known && given.length === 1 && forms.filter(Boolean).length === 1) return cloneJson(value) as Decision
  fail('approval.invalid', `The decision for the call "${callId}" is invalid. ${form}`)
}

/** Checks a decision. For a call of a sub-agent this checks only the outer call. The sub-agent checks the rest. */
async function checkCall(
  session: SessionScope,
  callId: string,
  given: Decision,
  { outer, inside, tools }: Decidable & { tools: ToolRegistry },
): Promise<void> {
  const record = session.suspension?.calls[outer]
  if (record !== undefined && record.tenant !== tenantOf(session.principal))
    fail('approval.forged', `The call "${callId}" was suspended for another tenant. Resume it there.`)
  // The rules of the agent that suspended the call apply, not those of another agent with the same history or secret.
  if (!session.isOwnCall(outer))
    fail(
      'approval.forbidden',
      `The call "${outer}" was suspended by the agent ${describe(record?.agent)}, not by "${session.agent.setup.name}". Resume it with that agent, or set formerNames after a rename.`,
    )
  if ('deny' in given && !inside) return
  if (!inside) checkWho(callId, record, given)
  const request = session.history.pending().find((part) => part.callId === callId)?.approvalRequest
  if (request !== undefined && 'args' in given && !inside)
    fail(
      'approval.invalid',
      `The provider "${request.provider}" runs the call "${callId}" and cannot change its arguments. Resume it with { approve: true } or { deny: "why" }.`,
    )
  if (record === undefined && session.agent.setup.approvals.secret !== undefined)
    fail(
      'approval.forged',
      `The snapshot has no record of the call "${callId}". Restore the whole snapshot, unchanged.`,
    )
  const token = inside ? given.token?.split('.', 1)[0] : given.token
  if (record !== undefined) await checkRecord(session, outer, record, token, 'deny' in given)
  await checkTool(session, outer, record, { decision: inside ? { approve: true } : given, tools })
}

/** Checks that a result comes from the client for the client's calls, and only for those. */
function checkWho(callId: string, record: SuspendedCall | undefined, decision: Decision): void {
  const client = record?.client === true
  if (client === 'result' in decision) return
  fail(
    'approval.invalid',
    client
      ? `The client runs the call "${callId}": resume it with { result }, or { deny: "why" }.`
      : `The call "${callId}" waits for a decision, not for a client's result. ${form}`,
  )
}

async function checkRecord(
  session: SessionScope,
  callId: string,
  record: SuspendedCall,
  token: string | undefined,
  denies: boolean,
): Promise<void> {
  const { clock, approvals } = session.agent.setup
  const pending = session.history.pending().find((part) => part.callId === callId)
  const sealed = await isSealOf(record.token, bindingOf(callId, record), approvals.secret)
  const inside = record.inner === undefined || record.inside === (await digestOf(record.inner))
  const ran = record.ran === undefined || record.args === (await digestOf(record.ran))
  const sameRequest = equalJson(pending?.approvalRequest, record.approvalRequest)
  const same =
    sameRequest && inside && ran && pending?.name === record.name && record.sent === (await digestOf(pending?.args))
  if (!sealed || !same)
    fail(
      'approval.forged',
      `The call "${callId}" differs from the suspended one: it was edited, or sealed with another secret.`,
    )
  if (denies) return
  if (token === undefined ? approvals.secret !== undefined : !sameSeal(token, record.token))
    fail(
      'approval.forged',
      `The approval of the call "${callId}" ${token === undefined ? 'has no token' : 'has a token of another call'}. Send the token of session.pending with it.`,
    )
  if (record.expiresAt !== undefined && clock.now() >= record.expiresAt)
    fail(
      'approval.expired',
      `The call "${callId}" could be approved until ${new Date(record.expiresAt).toISOString()}. Deny it, or run the turn again.`,
    )
}

async function checkTool(
  { agent }: SessionScope,
  callId: string,
  record: SuspendedCall | undefined,
  { decision, tools }: { decision: Decision; tools: ToolRegistry },
): Promise<void> {
  if (record === undefined || record.approvalRequest !== undefined) return
  const registered = tools.get(record.name)
  if (record.schema !== (await digestOf(registered?.def.jsonSchema)))
    fail(
      'approval.changed',
      `The tool "${record.name}" ${registered === undefined ? 'is gone' : 'has another schema'} since the call "${callId}" was suspended. Deny it, and let the model call again.`,
    )
  if (!('args' in decision) || registered === undefined) return
  const { issues } = await checkArgs(registered.tool, cloneJson(decision.args), agent.setup.validate)
  if (issues !== undefined)
    fail(
      'approval.invalid',
      `The arguments decided for the call "${callId}" do not fit the tool "${record.name}": ${formatIssues(issues)}.`,
    )
}

function usedKey(record: SuspendedCall | undefined, callId: string): string {
  return `${record?.turnId ?? ''}#${callId}`
}

function fail(code: ErrorCode, message: string): never {
  throw new AlliumError(code, message)
}
