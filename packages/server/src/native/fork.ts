import { AlliumError, noUsage, type SessionKey, type Snapshot, type StoredSession, type StoredTurn } from '@allium/core'
import type { Host } from '../host.ts'
import { fail } from '../http/problem.ts'
import { keyOf, type Visit } from '../visit.ts'
import { isThere } from './is-there.ts'

/**
 * Stores a session that begins with what another one of the same owner had, at its end or after one of its runs.
 *
 * @throws AlliumError `session.not_found`, `session.unknown_turn`, `session.busy`, `store.conflict` where the new id is taken
 */
export async function fork(
  host: Host,
  asks: Visit,
  { from, to, at }: { from: string; to: string; at?: string | undefined },
): Promise<void> {
  const { agent, principal } = asks
  const key = keyOf(asks, from)
  await isThere(host, key)
  const source = agent.session({ id: from, principal: principal as never })
  await source.open()
  try {
    if (at !== undefined) source.restore(await after(host, key, at))
    await keep(host, keyOf(asks, to), agent.name, source.fork({ id: to }).snapshot())
  } finally {
    await source.close()
  }
}

async function keep({ sessions, clock }: Host, key: SessionKey, agent: string, snapshot: Snapshot): Promise<void> {
  const { lease, heldUntil } = await sessions.acquire(key, 10_000)
  if (lease === undefined)
    throw new AlliumError('session.busy', `The session "${key.sessionId}" runs a turn.`, { details: { heldUntil } })
  try {
    if (lease.version > 0) throw fail('store.conflict', `There is a session ${JSON.stringify(key.sessionId)} already.`)
    await sessions.append(lease, 0, forkedTurn(agent, snapshot, clock.now()), { release: true })
  } catch (error) {
    await sessions.release(lease)
    throw error
  }
}

/** What the new session begins with, in the form of a run. */
function forkedTurn(agent: string, { history: messages, ...rest }: Snapshot, now: number): StoredTurn {
  const turnId = `fork:${crypto.randomUUID()}`
  const times = { startedAt: now, endedAt: now }
  const none = { usage: noUsage(), answer: null, records: [] }
  return { turnId, rootId: turnId, agent, status: 'closed', ...times, ...none, from: 0, messages, rest }
}

/** The session as it was after one of its runs. */
async function after({ sessions }: Host, key: SessionKey, turnId: string): Promise<Snapshot> {
  const turn = await sessions.find(key, { turnId })
  const now = await sessions.load(key)
  if (turn?.endedAt === undefined || now === undefined) throw unknown(key, turnId)
  for (let version = now.version; version > 0; version--) {
    const stored = await sessions.load(key, { version })
    if (stored !== undefined && isAfter(stored, turn)) return { ...stored.rest, history: stored.history }
  }
  throw unknown(key, turnId)
}

function isAfter({ rest }: StoredSession, turn: StoredTurn): boolean {
  return rest.runCount === turn.rest.runCount
}

function unknown({ sessionId }: SessionKey, turnId: string): AlliumError {
  return fail(
    'session.unknown_turn',
    `The session ${JSON.stringify(sessionId)} has no run ${JSON.stringify(turnId)} that has ended.`,
  )
}
