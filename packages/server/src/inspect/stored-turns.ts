import type { Message, PendingCall, SessionKey, StoredTurn, Usage } from '@allium/core'
import type { SessionHead, SessionStore, StoredStatus } from '@allium/store'
import { pendingCallsOf } from '../approvals/pending-calls.ts'
import type { StoreReader } from '../host/host.ts'
import type { Caller } from '../request/caller.ts'
import { withFileViews } from './files.ts'

/** A stored turn, with the messages that it added. */
export interface StoredTurnView {
  turnId: string
  rootId: string
  /** The agent that ran it. In a group, turns of a session have different ones. */
  agent: string
  resumes?: string
  status: StoredStatus
  reason?: string
  code?: string
  startedAt: number
  endedAt?: number
  usage: Usage
  /** The cost of the session in USD after this turn, if the agent has `observe.usage()`. */
  sessionCost?: number
  /** The index of its first message in the history. */
  from: number
  messages: readonly Message[]
  /** How many messages between the first and the others were left out. */
  skipped: number
}

/** Most turns of one answer. */
const maxTurns = 50
/** Most messages of one turn. */
const maxMessages = 200

/** Returns the last turns of a session before a version, oldest first, and the pending calls of the session. */
export async function storedTurns(
  stores: StoreReader,
  caller: Caller,
  key: SessionKey,
  before?: number,
): Promise<TurnsView & { pending: readonly PendingCall[] }> {
  const head = await stores.sessions.head(key)
  // The first run of a session may not have stored anything yet.
  if (head === undefined) return { turns: [], pending: [], running: false }
  const pending = key.owner === caller.owner ? await pendingCallsOf(stores, caller, key, head) : []
  return { ...(await turnsOf(stores.sessions, key, head, before)), pending }
}

/** Some turns of a session. With `before` there are earlier ones. */
export interface TurnsView {
  turns: StoredTurnView[]
  before?: number
  running: boolean
}

/** Returns the last turns of a session before a version, oldest first. */
export async function turnsOf(
  sessions: Pick<SessionStore, 'find' | 'history'>,
  key: SessionKey,
  { version: latestVersion }: Pick<SessionHead, 'version'>,
  before?: number,
): Promise<TurnsView> {
  const last = Math.min(before ?? Number.POSITIVE_INFINITY, latestVersion + 1) - 1
  const first = Math.max(1, last - maxTurns + 1)
  const turns: StoredTurnView[] = []
  for (let version = first; version <= last; version++) {
    const turn = await sessions.find(key, { version }, { files: 'onDemand' })
    if (turn !== undefined) turns.push(await viewOf(turn))
  }
  // Before the first message there is only the run in progress.
  const [open] = await sessions.history(key, { before: 0, limit: 1 })
  const turn = open && before === undefined ? await sessions.find(key, open, { files: 'onDemand' }) : undefined
  if (turn !== undefined) turns.push(await viewOf(turn))
  const more = first > 1 ? { before: first } : {}
  return { turns, ...more, running: open !== undefined }
}

async function viewOf(turn: StoredTurn): Promise<StoredTurnView> {
  const { turnId, rootId, agent, resumes, status, reason, code, startedAt, endedAt, usage, from, messages, rest } = turn
  const cost = rest.state['observe:usage:cost']
  const skipped = Math.max(0, messages.length - maxMessages)
  const shown = skipped === 0 ? messages : [...messages.slice(0, 1), ...messages.slice(1 + skipped)]
  return {
    turnId,
    rootId,
    agent,
    ...(resumes !== undefined && { resumes }),
    status,
    ...(reason !== undefined && { reason }),
    ...(code !== undefined && { code }),
    startedAt,
    ...(endedAt !== undefined && { endedAt }),
    usage,
    ...(typeof cost === 'number' && { sessionCost: cost }),
    from,
    messages: await withFileViews(shown),
    skipped,
  }
}
