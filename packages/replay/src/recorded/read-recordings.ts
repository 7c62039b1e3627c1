import { AlliumError, isAlliumError, type SessionKey, type Snapshot } from '@allium/core'
import { checkOptions, describe, type KeysOf } from '@allium/core/internal'
import type { RecordingInfo, RecordingStore, SessionStore } from '@allium/store'
import type { RecordedTurn } from '../recorded-turn.ts'
import { parseRecording } from './parse-recording.ts'
import { Reasons } from './reasons.ts'
import { sessionBefore } from './session-before.ts'

/** Selects the recordings to read. */
export interface RecordingsQuery {
  readonly recordings: Pick<RecordingStore, 'list' | 'get'>
  /** Has the sessions that the turns refer to. @default none: only first turns of sessions can be read */
  readonly sessions?: Pick<SessionStore, 'load'> | undefined
  /** The name under which the agent stores its sessions. */
  readonly agent: string
  /** @default all tenants */
  readonly tenant?: string | undefined
  /** Turns that began at or after this time, in milliseconds since the epoch. @default the first */
  readonly since?: number | undefined
  /** Turns that began before this time. @default the last */
  readonly until?: number | undefined
  /** The maximum number of recordings to read. The newest are read. @default 100_000 */
  readonly limit?: number | undefined
}

/** A recorded turn with the session that it began with. */
export interface ReadTurn {
  readonly key: SessionKey
  readonly turnId: string
  readonly recorded: RecordedTurn
  /** The session before the turn. */
  readonly before: Snapshot
}

/** The recordings of a query, and why some of them could not be read. */
export interface ReadRecordings extends AsyncIterable<ReadTurn> {
  /** Recordings that could not be read so far, by reason. */
  readonly unread: Readonly<Record<string, number>>
}

const known: KeysOf<RecordingsQuery> = {
  recordings: true,
  sessions: true,
  agent: true,
  tenant: true,
  since: true,
  until: true,
  limit: true,
}

/**
 * Reads recorded turns with the sessions that they began with, by the start of the turns, oldest first. So the turns of one session come
 * in their order. A recording that is damaged or whose history is gone is counted by its reason, and never guessed.
 *
 * @throws AlliumError `options.invalid`; errors of the stores, such as `store.unavailable`
 */
export function readRecordings(query: RecordingsQuery): ReadRecordings {
  checkOptions(query, known, 'readRecordings()', 'options.invalid')
  const { limit = 100_000 } = query
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new AlliumError('options.invalid', `The option limit takes a whole number from 1 on, not ${describe(limit)}.`)
  const reasons = new Reasons()
  return {
    get unread() {
      return reasons.counts
    },
    async *[Symbol.asyncIterator]() {
      for (const info of await infosOf(query, limit)) {
        const turn = await read(query, info)
        if (typeof turn === 'string') reasons.add(turn)
        else yield turn
      }
    },
  }
}

/** Returns the newest recordings, oldest first. The list is read first, so that turns recorded meanwhile do not prolong it. */
async function infosOf(query: RecordingsQuery, limit: number): Promise<RecordingInfo[]> {
  const { recordings, agent, tenant, since, until } = query
  const found: RecordingInfo[] = []
  let cursor: string | undefined
  do {
    const page = { limit: Math.min(500, limit - found.length), cursor }
    const { items, cursor: next } = await recordings.list({ agent, tenant, since, until, order: 'desc', ...page })
    for (const item of items) found.push(item)
    cursor = next
  } while (cursor !== undefined && found.length < limit)
  return found.reverse()
}

/** Returns a turn, or the reason why it cannot be read. */
async function read(query: RecordingsQuery, { key, turnId }: RecordingInfo): Promise<ReadTurn | string> {
  try {
    const recording = await query.recordings.get({ key, turnId })
    if (recording === undefined) return 'the recording was erased or has expired'
    const recorded = parseRecording(recording.content)
    const before = await sessionBefore(query.sessions, key, recorded)
    return before === undefined ? 'history gone' : { key, turnId, recorded, before }
  } catch (error) {
    if (isAlliumError(error, 'recording.invalid')) return 'the recording is damaged'
    if (isAlliumError(error, 'store.corrupt')) return 'the stored data is damaged'
    if (isAlliumError(error, 'store.sealed')) return 'the store has no key for it'
    throw error
  }
}
