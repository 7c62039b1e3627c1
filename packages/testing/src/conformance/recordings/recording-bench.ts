import type { SessionKey, Writer } from '@allium/core'
import type { Recording, RecordingInfo, RecordingQuery, RecordingStore, SessionStore } from '@allium/store'
import { checkResolves } from '../check.ts'
import { chat, nowOf } from '../store/bench.ts'

/** A store of recordings, and the sessions that they are erased with. */
export interface RecordingStoreParts {
  readonly recordings: RecordingStore
  readonly sessions: SessionStore
}

/** The test bench of a case. */
export interface RecordingBench extends RecordingStoreParts {
  /** The same data as another process sees it; the parts themselves if they cannot be opened again. */
  other: RecordingStoreParts
  /** The duration of a lease, in milliseconds. */
  lease: number
  /** Lets time pass. */
  wait(ms: number): Promise<void>
}

/** The cases of one file by name. */
export type RecordingCases = Readonly<Record<string, (bench: RecordingBench) => Promise<void>>>

/** A time that no case reaches. */
const never = 8_000_000_000_000

/** Returns a recording of a turn in the session `chat`. */
export function recordingOf(turnId: string, more: Partial<Recording> = {}, key: Partial<SessionKey> = {}): Recording {
  return {
    ...{ turnId, key: { ...chat, ...key }, startedAt: 1000, expiresAt: never },
    ...{ content: JSON.stringify({ turnId }), ...more },
  }
}

/** Stores recordings, which must succeed. */
export async function add({ recordings }: RecordingStoreParts, ...all: Recording[]): Promise<void> {
  for (const one of all) await checkResolves(recordings.add(one), `The recording of "${one.turnId}" should be stored`)
}

/** Lists all recordings of the agent, over pages. */
export async function listAll(
  { recordings }: RecordingStoreParts,
  query: Partial<RecordingQuery> = {},
  betweenPages: () => Promise<void> = async () => {},
): Promise<RecordingInfo[]> {
  const all: RecordingInfo[] = []
  for (let cursor: string | undefined, pages = 0; pages < 100; pages++) {
    const at = cursor === undefined ? {} : { cursor }
    const page = await recordings.list({ agent: chat.agent, limit: 10, ...query, ...at })
    all.push(...page.items)
    cursor = page.cursor
    if (cursor === undefined) break
    await betweenPages()
  }
  return all
}

export const idsOf = (items: readonly { turnId: string }[]) => items.map(({ turnId }) => turnId)

/** The current time by the store's clock. */
export function now({ sessions, other, lease, wait }: RecordingBench): Promise<number> {
  return nowOf({ store: sessions, other: other.sessions, lease, wait })
}

/** A run of the owner that begins now. */
export async function writer(bench: RecordingBench): Promise<Writer> {
  return { tenant: chat.tenant, owner: chat.owner, since: await now(bench) }
}
