import { AlliumError, noUsage, type SessionKey, type Snapshot, type StoredTurn } from '@allium/core'
import type { SessionStore, StoredSession } from '@allium/store'
import type { Host } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import { type Caller, keyOf } from '../request/caller.ts'
import { requireSession } from '../request/require-session.ts'

/**
 * Stores a session that begins with the history and state of another one of the same owner, at its end or after one of its runs.
 *
 * @throws AlliumError `session.not_found`, `session.unknown_turn`, `session.busy`, `store.conflict` if the new id is taken
 */
export async function fork(
  host: Host,
  caller: Caller,
  { from, to, at }: { from: string; to: string; at?: string | undefined },
): Promise<void> {
  const { agent, principal } = caller
  const key = keyOf(caller, from)
  await requireSession(host, key)
  const source = agent.session({ id: from, principal: principal as never })
  await source.open()
  try {
    if (at !== undefined) source.restore(await snapshotAfter(host.sessions, key, at))
    await storeFork(host, keyOf(caller, to), agent.name, source.fork({ id: to }).snapshot())
  } finally {
    await source.close()
  }
}

/**
 * Stores a new session that begins with a snapshot.
 *
 * @throws AlliumError `session.busy`, `store.conflict` if the id is taken
 */
export async function storeFork(
  { sessions, clock }: Host,
  key: SessionKey,
  agent: string,
  snapshot: Snapshot,
): Promise<void> {
  const { lease, heldUntil } = await sessions.acquire(key, 10_000)
  if (lease === undefined)
    throw new AlliumError(
      'session.busy',
      `The session "${key.sessionId}" is running a turn. Try again when it has ended.`,
      { details: { heldUntil } },
    )
  try {
    if (lease.version > 0)
      throw requestError(
        'store.conflict',
        `The session ${JSON.stringify(key.sessionId)} already exists. Choose another id.`,
      )
    await sessions.append(lease, 0, forkedTurn(agent, snapshot, clock.now()), { release: true })
  } catch (error) {
    await sessions.release(lease)
    throw error
  }
}

/** Returns the beginning of the new session, as a stored turn. */
function forkedTurn(agent: string, { history: messages, ...rest }: Snapshot, now: number): StoredTurn {
  const turnId = `fork:${crypto.randomUUID()}`
  const times = { startedAt: now, endedAt: now }
  const emptyFields = { usage: noUsage(), answer: null, records: [] }
  return { turnId, rootId: turnId, agent, status: 'closed', ...times, ...emptyFields, from: 0, messages, rest }
}

/**
 * Returns the session as it was after one of its runs.
 *
 * @throws AlliumError `session.unknown_turn`
 */
export async function snapshotAfter(
  sessions: Pick<SessionStore, 'load' | 'find'>,
  key: SessionKey,
  turnId: string,
): Promise<Snapshot> {
  const turn = await sessions.find(key, { turnId })
  const latest = await sessions.load(key)
  if (turn?.endedAt === undefined || latest === undefined) throw unknownTurnError(key, turnId)
  for (let version = latest.version; version > 0; version--) {
    const stored = await sessions.load(key, { version })
    if (stored !== undefined && isAfter(stored, turn)) return { ...stored.rest, history: stored.history }
  }
  throw unknownTurnError(key, turnId)
}

function isAfter({ rest }: StoredSession, turn: StoredTurn): boolean {
  return rest.runCount === turn.rest.runCount
}

function unknownTurnError({ sessionId }: SessionKey, turnId: string): AlliumError {
  return requestError(
    'session.unknown_turn',
    `The session ${JSON.stringify(sessionId)} has no run ${JSON.stringify(turnId)}, or it has not ended.`,
  )
}
