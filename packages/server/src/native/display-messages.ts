import type { Input, Message, SessionKey } from '@allium/core'
import type { StoredSession } from '@allium/store'
import { pendingCallsOf } from '../approvals/pending-calls.ts'
import { readResumedCalls } from '../approvals/resumed-calls.ts'
import type { Host } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import type { Caller } from '../request/caller.ts'
import { requireSession } from '../request/require-session.ts'
import { displayTransformOf, identityDisplay } from '../run/display-transform.ts'
import { collectFiles, download } from './files.ts'
import { type UiMessage, uiMessages } from './ui-messages.ts'

/**
 * Returns the history as a page shows it, with the calls that wait for the owner's decision. While a run is active, the history ends
 * with its input.
 *
 * @param urlOf returns the URL of a file by its name @default files are data URLs
 */
export async function displayMessages(
  host: Host,
  caller: Caller,
  key: SessionKey,
  urlOf?: (file: string) => string,
): Promise<{ messages: UiMessage[]; running: boolean }> {
  const { stored, durableRun, history } = await displayHistory(host, caller, key)
  const isOwner = key.owner === caller.owner
  // Tokens and unredacted values are only for the owner.
  const pending = isOwner ? await pendingCallsOf(caller, key.sessionId, stored) : []
  const running = stored.open !== undefined || durableRun !== undefined
  const resumedCalls = running ? await readResumedCalls(host, key, caller.request.signal) : undefined
  const links = urlOf && new Map([...(await collectFiles(history))].map(([file, name]) => [file, urlOf(name)]))
  const display = isOwner ? await displayTransformOf(caller.agent, key, host.logger) : identityDisplay
  const messages = uiMessages({ history, pending, resumedCalls, display, links })
  const last = messages.at(-1)
  const resumedId = resumedCalls === undefined ? undefined : stored.rest.suspension?.rootId
  const run = last?.role !== 'assistant' ? undefined : running ? resumedId : await lastAnswer(host, key)
  if (last !== undefined && run !== undefined) last.id = run
  return { messages, running }
}

/** Serves a file of the history. @throws AlliumError `session.not_found` if no file has this name */
export async function serveFile(host: Host, caller: Caller, key: SessionKey, name: string): Promise<Response> {
  const { history } = await displayHistory(host, caller, key)
  for (const [file, fileName] of await collectFiles(history)) if (fileName === name) return download(file)
  throw requestError(
    'session.not_found',
    `The session ${JSON.stringify(key.sessionId)} has no file ${JSON.stringify(name)}.`,
  )
}

async function displayHistory(host: Host, caller: Caller, key: SessionKey) {
  const stored = await requireSession(host, key)
  const durableRun = await activeDurableRun(host, caller, key)
  return { stored, durableRun, history: [...historyOf(stored), ...messagesOf(durableRun?.input)] }
}

/** Returns the active durable run. It has stored nothing in the session yet. */
export async function activeDurableRun({ events, runs }: Host, caller: Caller, key: SessionKey) {
  const latest = await events.latest(key)
  if (latest === undefined || latest.ended) return undefined
  const run = await runs.durableStatus(latest.turnId, caller)
  return run?.status === 'queued' || run?.status === 'running' ? run : undefined
}

function messagesOf(input: Input = []): readonly Message[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  return 'role' in input ? [input] : input
}

/** The last answer gets the id of its run, as in the stream, so that a page that follows the run again shows it once. */
async function lastAnswer({ events, sessions }: Host, key: SessionKey): Promise<string | undefined> {
  const latest = await events.latest(key)
  const turn = latest === undefined ? undefined : await sessions.find(key, { turnId: latest.turnId })
  return turn?.messages.some(({ role }) => role === 'assistant') ? turn.rootId : undefined
}

/** Leaves out the answer of an active run, which comes in its stream. */
function historyOf({ history, open }: StoredSession): Message[] {
  if (open === undefined || open.resumes !== undefined) return history
  const input = open.messages.findIndex(({ role, steer }) => role === 'assistant' || steer !== undefined)
  return [...history.slice(0, open.from), ...open.messages.slice(0, input === -1 ? undefined : input)]
}
