import { AlliumError, type Lease, noUsage, type SessionKey, type Snapshot, type StoredTurn } from '@allium/core'
import type { SessionStore } from '@allium/store'
import type { Limits, Runtime, Stores } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import { type Caller, keyOf } from '../request/caller.ts'
import { requireSession } from '../request/require-session.ts'

/**
 * Stores a session that begins with the history and state of another one of the same owner, at its end or after one of its runs.
 *
 * @throws AlliumError `session.not_found`, `session.unknown_turn`, `session.busy`, `store.conflict` if the new id is taken
 */
export async function fork(
  host: Stores & Limits,
  caller: Caller,
  { from, to, at }: { from: string; to: string; at?: string | undefined },
): Promise<void> {
  const key = keyOf(caller, from)
  await requireSession(host, key)
  await forkSnapshot(host, caller, to, () =>
    at === undefined ? snapshotAt(host.sessions, key) : snapshotAfter(host.sessions, key, at),
  )
}

/**
 * Stores a session of the caller that begins with a snapshot. Pending calls are closed. Few snapshots are in memory at once.
 *
 * @throws AlliumError `session.busy`, `store.conflict` if the id is taken
 */
export function forkSnapshot(
  host: Stores & Limits,
  caller: Caller,
  id: string,
  read: () => Promise<Snapshot>,
): Promise<void> {
  return host.slots.sessions.run(caller, () => storeSnapshot(host, caller, id, read))
}

/** Does the same at once, for a caller that has the slot. */
export function storeSnapshot(
  host: Stores & Runtime,
  caller: Caller,
  id: string,
  read: () => Promise<Snapshot>,
): Promise<void> {
  const { agent, principal } = caller
  const key = keyOf(caller, id)
  // The lease is older than what is read. So if the owner is erased meanwhile, the store rejects the copy.
  return withLease(host, key, async (lease) => {
    if (lease.version > 0)
      throw requestError('store.conflict', `The session ${JSON.stringify(id)} already exists. Choose another id.`)
    const source = agent.session({ principal: principal as never })
    source.restore(await read())
    const turn = {
      turnId: `${forkPrefix}${crypto.randomUUID()}`,
      status: 'closed',
      agent: agent.name,
      from: 0,
    } as const
    await host.sessions.append(lease, 0, entryOf(turn, host, source.fork({ id }).snapshot()))
  })
}

/** How long a session is leased for a change, in milliseconds: a busy machine needs seconds to store many images. */
const writeTimeout = 60_000

/**
 * Changes a session while no run can start in it.
 *
 * @throws AlliumError `session.busy` while a run is active
 */
export async function withLease(
  { sessions }: Stores,
  key: SessionKey,
  change: (lease: Lease) => Promise<void>,
): Promise<void> {
  const { lease, heldUntil } = await sessions.acquire(key, writeTimeout)
  if (lease === undefined) throw busyError(key, { heldUntil })
  try {
    await change(lease)
  } finally {
    await sessions.release(lease)
  }
}

export function busyError({ sessionId }: SessionKey, details?: { heldUntil: number }): AlliumError {
  const message = `The session "${sessionId}" is running a turn. Try again when it has ended.`
  return new AlliumError('session.busy', message, { details })
}

const forkPrefix = 'fork:'

/** Whether a turn is the beginning of a forked session. */
export function isFork({ turnId }: StoredTurn): boolean {
  return turnId.startsWith(forkPrefix)
}

/** Returns an entry that no run made: it replaces the history from an index on. */
export function entryOf(
  entry: Pick<StoredTurn, 'turnId' | 'status' | 'agent' | 'from'>,
  { clock }: Runtime,
  { history: messages, ...rest }: Snapshot,
): StoredTurn {
  const now = clock.now()
  const times = { startedAt: now, endedAt: now }
  const emptyFields = { usage: noUsage(), answer: null, records: [] }
  return { ...entry, rootId: entry.turnId, ...times, ...emptyFields, messages, rest }
}

/**
 * Returns the session as it was after one of its runs.
 *
 * @throws AlliumError `session.unknown_turn`
 */
export async function snapshotAfter(sessions: Reads, key: SessionKey, turnId: string): Promise<Snapshot> {
  return snapshotAt(sessions, key, await versionAfter(sessions, key, turnId))
}

type Reads = Pick<SessionStore, 'load' | 'head'>

/**
 * Returns the session as it was after a number of runs.
 *
 * @param version @default all of them
 */
export async function snapshotAt(sessions: Reads, key: SessionKey, version?: number): Promise<Snapshot> {
  const { rest = { state: {} }, history = [] } =
    (await sessions.load(key, version === undefined ? {} : { version })) ?? {}
  return { ...rest, history }
}

async function versionAfter(sessions: Reads, key: SessionKey, turnId: string): Promise<number> {
  const { version } = (await sessions.head(key, { turnId })) ?? {}
  if (version !== undefined) return version
  throw requestError(
    'session.unknown_turn',
    `The session ${JSON.stringify(key.sessionId)} has no run ${JSON.stringify(turnId)}, or it has not ended.`,
  )
}
