import type { Decision } from '@allium/core'
import { pendingCallsOf } from '../approvals/pending-calls.ts'
import type { Access, Limits, RunReader, StoreReader, Stores } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import { type Caller, keyOf } from '../request/caller.ts'
import { requireSession } from '../request/require-session.ts'
import type { Infer } from '../request/schema.ts'
import type { RunRequest } from '../run/run-request.ts'
import { namedRequest } from '../sessions/named-message.ts'
import type { CallResponses, chatBody, UserMessage } from './chat-request.ts'

/** Returns the run that a page requests: an answer to its newest message, or one that continues with its responses to calls. */
export async function requestedRun(
  host: Access & Stores & RunReader & Limits,
  caller: Caller,
  { id, trigger, messages, clientTools }: Infer<typeof chatBody>,
): Promise<RunRequest> {
  const { userMessage, callResponses } = messages
  if (callResponses !== undefined) return newDecisions(host, caller, id, callResponses)
  const message = { ...userMessage, again: trigger === 'regenerate-message' }
  return { ...(await answerOf(host, caller, id, message)), clientTools }
}

/** Returns the run that answers a message, or answers it once more. */
async function answerOf(
  host: Access & Stores & RunReader & Limits,
  caller: Caller,
  sessionId: string,
  { id, previous, content, again }: UserMessage & { again: boolean },
): Promise<RunRequest> {
  if (id !== undefined)
    return namedRequest(host, caller, sessionId, {
      id,
      previous,
      again,
      content: again ? parsed(content) : content(),
    })
  if (!again) return { input: { role: 'user', content: content() } }
  throw requestError('request.invalid', 'A message without an id cannot be answered again. Send its id.')
}

/** Returns undefined for content that cannot be parsed. The stored message then has it, for example the file behind a link. */
function parsed<T>(content: () => T): T | undefined {
  try {
    return content()
  } catch {
    return undefined
  }
}

/**
 * Returns the new decisions. With each new one, a page sends its old decisions and the outputs of all tools again. Outputs count only
 * for calls that the page was given. If no decision is new, they are rejected as used.
 */
async function newDecisions(
  stores: StoreReader,
  caller: Caller,
  id: string,
  { decisions, results }: CallResponses,
): Promise<RunRequest> {
  const key = keyOf(caller, id)
  const stored = await stores.sessions.head(key)
  if (stored === undefined && Object.keys(decisions).length === 0)
    throw requestError('request.invalid', 'A page can send tool outputs only for calls that it received.')
  const { rest } = stored ?? (await requireSession(stores, key))
  const newEntries = (await pendingCallsOf(stores, caller, key, { rest })).flatMap(
    ({ callId, client, token }): [string, Decision][] => {
      const response = client === true ? results[callId] : decisions[callId]
      if (response === undefined) return []
      return [[callId, client === true && token !== undefined ? { ...response, token } : response]]
    },
  )
  const clientTools = rest.suspension?.clientTools
  if (newEntries.length > 0) return { decisions: Object.fromEntries(newEntries), clientTools }
  if (Object.keys(decisions).length > 0) return { decisions }
  throw requestError(
    'approval.used',
    'No call is waiting for an output of this page. Each output can be sent only once.',
  )
}
