import type { Input, Message, SessionKey, StoredSession } from '@allium/core'
import type { Host } from '../host.ts'
import { fail } from '../http/problem.ts'
import { resumedRun } from '../run/resumed-run.ts'
import { asStored, showOf } from '../run/show-of.ts'
import type { Visit } from '../visit.ts'
import { download, filesIn } from './files.ts'
import { isThere } from './is-there.ts'
import { type UiMessage, uiMessages } from './ui-messages.ts'
import { waitingIn } from './waiting.ts'

/**
 * The history as a page shows it: with what waits for its owner's decision, and, while a run goes on, up to its input.
 *
 * @param at returns the URL of a file by its name @default files are data URLs
 */
export async function shownMessages(
  host: Host,
  asks: Visit,
  key: SessionKey,
  at?: (file: string) => string,
): Promise<{ messages: UiMessage[]; running: boolean }> {
  const { stored, lasting, history } = await shownHistory(host, asks, key)
  const isOwner = key.owner === asks.owner
  // Tokens and true values are for the owner.
  const pending = isOwner ? await waitingIn(asks, key.sessionId, stored) : []
  const running = stored.open !== undefined || lasting !== undefined
  const decided = running ? await resumedRun(host, key, asks.request.signal) : undefined
  const links = at && new Map([...(await filesIn(history))].map(([file, name]) => [file, at(name)]))
  const show = isOwner ? await showOf(asks.agent, key, host.logger) : asStored
  const messages = uiMessages({ history, pending, decided, show, links })
  const last = messages.at(-1)
  const going = decided === undefined ? undefined : stored.rest.suspension?.rootId
  const run = last?.role !== 'assistant' ? undefined : running ? going : await lastAnswer(host, key)
  if (last !== undefined && run !== undefined) last.id = run
  return { messages, running }
}

/** Serves a file of the history. @throws AlliumError `session.not_found` if there is no file of this name */
export async function shownFile(host: Host, asks: Visit, key: SessionKey, name: string): Promise<Response> {
  const { history } = await shownHistory(host, asks, key)
  for (const [file, its] of await filesIn(history)) if (its === name) return download(file)
  throw fail('session.not_found', `The session ${JSON.stringify(key.sessionId)} has no file ${JSON.stringify(name)}.`)
}

async function shownHistory(host: Host, asks: Visit, key: SessionKey) {
  const stored = await isThere(host, key)
  const lasting = await lastingRun(host, asks, key)
  return { stored, lasting, history: [...historyOf(stored), ...messagesOf(lasting?.input)] }
}

/** A durable run that goes on: nothing of it stands in the session yet. */
async function lastingRun({ events, runs }: Host, asks: Visit, key: SessionKey) {
  const latest = await events.latest(key)
  if (latest === undefined || latest.ended) return undefined
  const run = await runs.lasting(latest.turnId, asks)
  return run?.status === 'queued' || run?.status === 'running' ? run : undefined
}

function messagesOf(input: Input = []): readonly Message[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  return 'role' in input ? [input] : input
}

/** The last answer has the id of its run, as in the stream: a page that follows that again shows it once. */
async function lastAnswer({ events, sessions }: Host, key: SessionKey): Promise<string | undefined> {
  const latest = await events.latest(key)
  const turn = latest === undefined ? undefined : await sessions.find(key, { turnId: latest.turnId })
  return turn?.messages.some(({ role }) => role === 'assistant') ? turn.rootId : undefined
}

/** The answer of a run that goes on comes in its stream. */
function historyOf({ history, open }: StoredSession): Message[] {
  if (open === undefined || open.resumes !== undefined) return history
  const input = open.messages.findIndex(({ role, steer }) => role === 'assistant' || steer !== undefined)
  return [...history.slice(0, open.from), ...open.messages.slice(0, input === -1 ? undefined : input)]
}
