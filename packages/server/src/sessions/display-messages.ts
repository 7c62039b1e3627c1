import type { Input, Message, SessionKey } from '@allium/core'
import { pendingCallsOf } from '../approvals/pending-calls.ts'
import { readResumedCalls } from '../approvals/resumed-calls.ts'
import type { Limits, RunReader, Runtime, StoreReader } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import type { Caller } from '../request/caller.ts'
import { endOfHistory, type HistoryEntry, isInput, readHistory } from '../request/read-history.ts'
import { requireSession } from '../request/require-session.ts'
import { displayTransformOf, identityDisplay } from '../run/display-transform.ts'
import { collectFiles, download, messageIndexOf, withData } from './files.ts'
import { fileUrl, type UiMessage, uiMessages } from './ui-messages.ts'

/** The messages to show: the last ones before an index of the history. */
export interface MessagePage {
  readonly before: number
  readonly limit: number
}

/**
 * Returns a page of the history as a page shows it, with the calls that wait for the owner's decision. While a run is active, the history
 * ends with its input. With `before` there are earlier messages.
 *
 * @param urlOf returns the URL of a file by its name @default files are data URLs
 */
export async function displayMessages(
  host: StoreReader & RunReader & Runtime,
  caller: Caller,
  key: SessionKey,
  { before, limit }: MessagePage,
  urlOf?: (file: string) => string,
): Promise<{ messages: UiMessage[]; running: boolean; before?: number }> {
  const head = await requireSession(host, key)
  const { entries, running } = await historyBefore(host, caller, key, { before, limit })
  const shown = entries.slice(startOf(entries, limit))
  const isEnd = before === endOfHistory
  const isOwner = key.owner === caller.owner
  // Tokens and unredacted values are only for the owner.
  const pending = isOwner && isEnd ? await pendingCallsOf(host, caller, key, head) : []
  const resumedCalls = running && isEnd ? await readResumedCalls(host, key, caller.request.signal) : undefined
  // Without URLs, only the last answer is shown.
  const linked = urlOf === undefined ? shown.slice(shown.findLastIndex(isInput) + 1) : shown
  const files = collectFiles(linked, head.version + 1)
  const urls = [...files].map(async ([name, file]) => [file, urlOf?.(name) ?? fileUrl(await withData(file))] as const)
  const links = new Map(await Promise.all(urls))
  const display = isOwner ? await displayTransformOf(caller.agent, key, host.logger) : identityDisplay
  const messages = uiMessages({ history: shown, pending, resumedCalls, display, links })
  const last = messages.at(-1)
  if (last?.role === 'assistant' && isEnd) {
    const resumedId = resumedCalls && head.rest.suspension?.rootId
    last.id = (running ? resumedId : await lastAnswer(host, key, shown)) ?? last.id
  }
  const first = shown[0]?.index ?? 0
  return { messages, running, ...(first > 0 && { before: first }) }
}

/** Serves a file of the history. @throws AlliumError `session.not_found` if no file has this name */
export async function serveFile(
  host: StoreReader & RunReader & Limits,
  caller: Caller,
  key: SessionKey,
  name: string,
): Promise<Response> {
  const { version } = await requireSession(host, key)
  const { entries } = await historyBefore(host, caller, key, { before: messageIndexOf(name) + 1, limit: 1 })
  const file = collectFiles(entries, version + 1).get(name)
  if (file !== undefined) return host.slots.files.run(caller, () => download(file))
  throw requestError(
    'session.not_found',
    `The session ${JSON.stringify(key.sessionId)} has no file ${JSON.stringify(name)}.`,
  )
}

/** Returns the last messages before an index, with the input of an active durable run, which has stored nothing in the session yet. */
async function historyBefore(
  host: StoreReader & RunReader,
  caller: Caller,
  key: SessionKey,
  { before, limit }: MessagePage,
) {
  const { entries, running } = await readHistory(host.sessions, key, { before, limit })
  const last = entries.at(-1)
  const end = last === undefined ? 0 : last.index + 1
  const run = before > end ? await activeDurableRun(host, caller, key) : undefined
  const input = messagesOf(run?.input).map((message, i) => ({
    index: end + i,
    message,
    turnId: '',
    version: undefined,
  }))
  return { entries: [...entries, ...input.slice(0, before - end)], running: running || run !== undefined }
}

/** Returns where a page of at most `limit` messages begins, or a longer one if a single answer has more. */
function startOf(entries: readonly HistoryEntry[], limit: number): number {
  const first = entries.length - limit
  if (first <= 0 && entries[0]?.index === 0) return 0
  const start = entries.findIndex((entry, index) => index >= first && isInput(entry))
  return start === -1 ? Math.max(0, entries.findLastIndex(isInput)) : start
}

/** Returns the active durable run. It has stored nothing in the session yet. */
export async function activeDurableRun({ events, runs }: StoreReader & RunReader, caller: Caller, key: SessionKey) {
  const latest = await events.latest(key)
  if (latest === undefined || latest.ended) return undefined
  const run = await runs.durableStatus(latest.turnId, caller)
  return run?.status === 'queued' || run?.status === 'running' ? run : undefined
}

function messagesOf(input: Input = []): readonly Message[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  return 'role' in input ? [input] : input
}

/**
 * Returns the id of the last answer if its run is in the log: that of its first run, as in the stream, so that a page that follows the run
 * again shows it once.
 */
async function lastAnswer(
  { events }: StoreReader,
  key: SessionKey,
  shown: readonly HistoryEntry[],
): Promise<string | undefined> {
  const latest = await events.latest(key)
  return latest?.turnId === shown.at(-1)?.turnId ? shown.findLast(isInput)?.turnId : undefined
}
