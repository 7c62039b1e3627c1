import type { SessionKey } from '@allium/core'
import type { StoreReader } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import { readHistory } from '../request/read-history.ts'
import { requireSession } from '../request/require-session.ts'

/**
 * Returns the id of the run that feedback is about. A page has the id of the run while it streams, and for older answers the id of a message in
 * the list of messages.
 *
 * @throws AlliumError `session.not_found`, `session.unknown_turn`
 */
export async function ratedRun(host: StoreReader, key: SessionKey, id: string): Promise<string> {
  const turn = await host.sessions.find(key, { turnId: id })
  if (turn !== undefined) return turn.turnId
  await requireSession(host, key)
  const found = (await runOfMessage(host, key, id)) ?? (await loggedRun(host, key, id))
  if (found !== undefined) return found
  throw requestError(
    'session.unknown_turn',
    `The session has no run and no answer ${JSON.stringify(id)}. Send the id of a run, or of an assistant message of this session.`,
  )
}

/** Returns the run whose answer the list of messages shows under an id. */
async function runOfMessage({ sessions }: StoreReader, key: SessionKey, id: string): Promise<string | undefined> {
  const index = Number(/^message-(\d{1,9})$/.exec(id)?.[1] ?? Number.NaN)
  if (Number.isNaN(index)) return undefined
  const { entries } = await readHistory(sessions, key, { before: index + 1, limit: 1 })
  const entry = entries.find((one) => one.index === index)
  return entry?.message.role === 'assistant' ? entry.turnId : undefined
}

/** A durable run stores nothing in its session before it has ended. */
async function loggedRun({ events }: StoreReader, key: SessionKey, id: string): Promise<string | undefined> {
  const latest = await events.latest(key)
  return latest?.turnId === id ? id : undefined
}
