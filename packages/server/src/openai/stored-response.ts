import { type DisplayTransform, type PendingCall, type StoredTurn, textOf } from '@allium/core'
import { pendingCallsOf } from '../approvals/pending-calls.ts'
import { isRunOf } from '../host/agent-names.ts'
import type { Access, Seals, StoreReader } from '../host/host.ts'
import { type Caller, canUse, keyOf, resolveCaller } from '../request/caller.ts'
import { requireSession } from '../request/require-session.ts'
import { displayTransformOf } from '../run/display-transform.ts'
import { clientToolCalls, type WireCall } from './client-tool-calls.ts'
import { callItem, lastItemStatus, messageItem, responseOf, statusOf } from './response.ts'
import { parseResponseId, responseNotFound } from './response-id.ts'

/** Returns a stored run of any agent that the principal may use, as a response. @throws AlliumError `session.not_found` */
export async function readStoredResponse(
  host: Access & StoreReader & Seals,
  request: Request,
  { principal, id }: { principal: unknown; id: string },
): Promise<object> {
  const run = parseResponseId(id)
  if (run === undefined) throw responseNotFound(id)
  const { sessionId, turnId } = run
  for (const model of host.agents.keys()) {
    if (!(await canUse(host, principal, model))) continue
    const caller = await resolveCaller(host, request, model)
    const key = keyOf(caller, sessionId)
    const turn = await host.sessions.find(key, { turnId })
    if (turn === undefined || !isRunOf(caller.agent, turn)) continue
    const pending = turn.status === 'suspended' ? await pendingCallsAfter(host, caller, sessionId, turn) : []
    const calls = await clientToolCalls(host, caller, pending, host.options.secret !== undefined)
    const display = await displayTransformOf(caller.agent, key, host.logger)
    return storedResponse(turn, { pending, calls }, { id, model, sessionId, display })
  }
  throw responseNotFound(id)
}

/** Returns the calls that a run left pending, as long as they are. */
async function pendingCallsAfter(
  host: StoreReader,
  caller: Caller,
  sessionId: string,
  turn: StoredTurn,
): Promise<readonly PendingCall[]> {
  const key = keyOf(caller, sessionId)
  const head = await requireSession(host, key)
  return head.rest.runCount === turn.rest.runCount ? pendingCallsOf(host, caller, key, head) : []
}

/** Returns a stored run as a response, with the texts of its answer. An active run has the texts that are stored so far. */
function storedResponse(
  { status, finishReason, code = 'server.failed', messages, usage, startedAt, endedAt }: StoredTurn,
  { pending, calls }: { pending: readonly PendingCall[]; calls: readonly WireCall[] },
  {
    id,
    model,
    sessionId,
    display,
  }: { id: string; model: string; sessionId: string | undefined; display: DisplayTransform },
): object {
  const texts = messages.flatMap((message) => (message.role === 'assistant' ? [display(textOf(message))] : []))
  const end = endedAt === undefined ? { status: 'in_progress' as const } : statusOf(status, finishReason, pending)
  const messageItems = texts
    .filter((text) => text !== '')
    .map((text, index, { length }) =>
      messageItem(`msg_${id.slice(-16)}_${index}`, index === length - 1 ? lastItemStatus(end) : 'completed', [text]),
    )
  const output = [...messageItems, ...calls.map((call, index) => callItem(call, `fc_${id.slice(-16)}_${index}`))]
  const meta = { model, sessionId, previous: null, metadata: {}, created: Math.floor(startedAt / 1000) }
  const error = end.status === 'failed' ? { error: { code, message: 'The run has failed.' } } : {}
  return responseOf(meta, { ...end, ...error, ended: Math.floor((endedAt ?? 0) / 1000), id, output, usage })
}
