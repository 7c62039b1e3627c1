import type { PendingCall, SessionKey } from '@allium/core'
import type { LatestRun, RunKey } from '@allium/store'
import { maxUnlogged } from '@allium/store/event-log'
import { pendingForReader } from '../approvals/pending-calls.ts'
import type { Limits, RunReader, StoreReader, Stores } from '../host/host.ts'
import { sseHeadResponse } from '../http/sse.ts'
import { type Caller, keyOf } from '../request/caller.ts'
import { concatEntries, deferEntries, type EntryReader, readEntries } from '../run/entry-reader.ts'
import { LocalRun } from '../run/local-run.ts'
import { interruptionAt, readRemote } from '../run/takeover.ts'
import { withoutResets } from '../run/without-resets.ts'
import { respond, type StreamProtocol } from './stream.ts'

/** A position in the runs of a session: after an event. */
export interface StreamPosition {
  readonly turnId: string
  readonly seq: number
}

/**
 * Streams the last run of a session, from its beginning or from after the last event that the reader has. Returns undefined if no
 * events are left.
 */
export async function resumeStream(
  host: Stores & RunReader & Limits,
  caller: Caller,
  sessionId: string,
  from: StreamPosition | undefined,
  protocol: StreamProtocol,
): Promise<Response | undefined> {
  const key = keyOf(caller, sessionId)
  const position = await resumePositionOf(host, caller, key, from)
  if (position === undefined) return undefined
  if (caller.request.method === 'HEAD') return sseHeadResponse(protocol.headers)
  const permit = host.shares.streams.acquire(caller)
  const readerAbort = new AbortController()
  const run = host.runs.find(key, position.turnId)
  run?.readers.join()
  const isLocal = run !== undefined || (await host.runs.durableStatus(position.turnId, caller)) !== undefined
  const { signal } = caller.request
  const unsubscribe = run === undefined ? host.runs.onClose(() => readerAbort.abort()) : () => {}
  const readSignal = AbortSignal.any([readerAbort.signal, signal])
  const source = isLocal ? readLocal : readRemote
  const all =
    run instanceof LocalRun
      ? run.entries(readSignal, position.seq)
      : readEntries(position.turnId, source(host, { key, turnId: position.turnId }, position.seq, readSignal))
  const leave = () => {
    permit.release()
    unsubscribe()
    readerAbort.abort()
    run?.readers.leave()
  }
  const rest = position.isEarlier ? await nonEmpty(all) : all
  if (rest === undefined) return void leave()
  const entries = protocol.withoutReset === true ? deferEntries(withoutResets(rest, position.knownSeq)) : rest
  const resolvePending = (pending: readonly PendingCall[]) => pendingForReader(host, caller, sessionId, pending)
  return respond(host, { entries, resolvePending, protocol, signal }, leave)
}

/** Returns undefined if no events are left: the log does not tell whether an earlier run has more. */
async function nonEmpty(entries: EntryReader): Promise<EntryReader | undefined> {
  const first = await entries.next()
  return first === undefined ? undefined : concatEntries([first], undefined, entries)
}

/** The state of the log when the reader came. */
interface ResumeInfo {
  readonly knownSeq: number
  /** A later run has started in the session. */
  readonly isEarlier?: true
}

async function resumePositionOf(
  host: StoreReader & RunReader,
  caller: Caller,
  key: SessionKey,
  from: StreamPosition | undefined,
): Promise<(StreamPosition & ResumeInfo) | undefined> {
  const { events, sessions } = host
  const latest = await events.latest(key)
  if (latest === undefined) return undefined
  const { turnId, seq, ended } = latest
  if (ended && !(await isStored(host, caller, { key, turnId }))) return undefined
  if (from?.turnId === turnId)
    return (await hasMore(host, { key, turnId }, latest, from.seq)) ? { ...from, knownSeq: seq } : undefined
  // For an earlier run, the rest of it. An id that names no run of this session is ignored.
  if (from !== undefined && (await sessions.find(key, { turnId: from.turnId })) !== undefined)
    return { ...from, knownSeq: 0, isEarlier: true }
  return { turnId, seq: 0, knownSeq: seq }
}

/**
 * Whether events may follow a position. Readers in the run's process are ahead of the log, so the position may be beyond its end. If this
 * process has the run, it knows by how much.
 */
async function hasMore(
  { runs, events }: StoreReader & RunReader,
  run: RunKey,
  { seq, ended }: LatestRun,
  after: number,
): Promise<boolean> {
  if (ended) return after < seq || (after < seq + maxUnlogged && (await interruptionAt(events, run, seq)) !== undefined)
  const live = runs.find(run.key, run.turnId)
  return after <= (live instanceof LocalRun ? Math.max(seq, live.seq) : seq + maxUnlogged)
}

/** Events may outlive a session that the application deleted in its store. They cannot be read then. */
async function isStored(
  { sessions, runs }: StoreReader & RunReader,
  caller: Caller,
  { key, turnId }: RunKey,
): Promise<boolean> {
  if ((await sessions.find(key, { turnId })) !== undefined) return true
  // A run that failed before its turn was stored.
  return (await runs.durableStatus(turnId, caller)) !== undefined || (await sessions.head(key)) !== undefined
}

function readLocal({ events }: StoreReader, run: RunKey, after: number, signal: AbortSignal) {
  return events.read(run, after, signal)
}
