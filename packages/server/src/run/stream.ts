import type { Clock, PendingCall, SessionKey } from '@allium/core'
import type { RunKey } from '@allium/store'
import type { Host } from '../host.ts'
import type { Permit } from '../http/fair-share.ts'
import { type Problem, problemOf } from '../http/problem.ts'
import { type Frame, type SseWriter, sse, sseHeadResponse } from '../http/sse.ts'
import { pendingForReader } from '../native/pending-calls.ts'
import { type Caller, keyOf } from '../request/caller.ts'
import { concatEntries, deferEntries, type EntryReader, readEntries } from './entry-reader.ts'
import { firstEvent } from './first-event.ts'
import type { RunEntry } from './run-entry.ts'
import type { RunHandle } from './run-handle.ts'
import { readRemote } from './takeover.ts'
import { withoutResets } from './without-resets.ts'

/** How a protocol encodes the events of a run. */
export interface StreamProtocol {
  /** Returns a writer for one reader. */
  frames(): FrameWriter
  readonly headers?: Readonly<Record<string, string>>
  /** The protocol cannot say that an answer starts over. */
  readonly withoutReset?: boolean
}

/** Encodes the events of one run for one reader. */
export interface FrameWriter {
  write(entry: RunEntry): Iterable<Frame>
  /** Frames before the first event. */
  begin?(): Iterable<Frame>
  /** Frames after the last event. */
  end?(): Iterable<Frame>
  /** No further events are written. */
  readonly done?: boolean
  /** Called with pending calls before their entry is written. */
  prepare?(pending: readonly PendingCall[]): Promise<void>
}

/** Acquires a stream permit, starts a run and streams it, or returns why it was rejected. The reader has joined the run. */
export async function streamRun(
  host: Host,
  caller: Caller,
  start: () => Promise<RunHandle>,
  protocol: StreamProtocol,
): Promise<Response | Problem> {
  const permit = host.shares.streams.acquire(caller)
  try {
    const answer = await openStream(host, caller, await start(), { protocol, permit })
    if (!(answer instanceof Response)) permit.release()
    return answer
  } catch (error) {
    permit.release()
    throw error
  }
}

async function openStream(
  host: Host,
  caller: Caller,
  run: RunHandle,
  { protocol, permit }: { protocol: StreamProtocol; permit: Permit },
): Promise<Response | Problem> {
  const { signal } = caller.request
  const readerAbort = new AbortController()
  const streamStart = await firstEvent(
    run.entries(AbortSignal.any([readerAbort.signal, signal])),
    host.headersAfter,
    host.clock,
  )
  const resolvePending = (pending: readonly PendingCall[]) => pendingForReader(host, caller, run.sessionId, pending)
  if (streamStart.problem === undefined)
    return respond(host, { entries: streamStart.entries, resolvePending, protocol, signal }, () => {
      readerAbort.abort()
      run.readers.leave()
      permit.release()
    })
  readerAbort.abort()
  run.readers.leave()
  return streamStart.problem
}

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
  host: Host,
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
  const all = readEntries(position.turnId, source(host, { key, turnId: position.turnId }, position.seq, readSignal))
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

/** Returns the frames that a protocol writes before the first event and after the last, without any events. */
export function emptyStream(host: Host, { request }: Caller, protocol: StreamProtocol): Response {
  const emptyReader: EntryReader = { take: () => undefined, next: async () => undefined }
  return respond(
    host,
    { entries: emptyReader, resolvePending: async (pending) => pending, protocol, signal: request.signal },
    () => {},
  )
}

/** The state of the log when the reader came. */
interface ResumeInfo {
  readonly knownSeq: number
  /** A later run has started in the session. */
  readonly isEarlier?: true
}

async function resumePositionOf(
  host: Host,
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
    return from.seq > seq || (ended && from.seq === seq) ? undefined : { ...from, knownSeq: seq }
  // For an earlier run, the rest of it. An id that names no run of this session is ignored.
  if (from !== undefined && (await sessions.find(key, { turnId: from.turnId })) !== undefined)
    return { ...from, knownSeq: 0, isEarlier: true }
  return { turnId, seq: 0, knownSeq: seq }
}

/** Events may outlive a session that the application deleted in its store. They cannot be read then. */
async function isStored({ sessions, runs }: Host, caller: Caller, { key, turnId }: RunKey): Promise<boolean> {
  if ((await sessions.find(key, { turnId })) !== undefined) return true
  // A run that failed before its turn was stored.
  return (await runs.durableStatus(turnId, caller)) !== undefined || (await sessions.load(key)) !== undefined
}

function readLocal({ events }: Host, run: RunKey, after: number, signal: AbortSignal) {
  return events.read(run, after, signal)
}

interface StreamSource {
  readonly entries: EntryReader
  /** Returns the pending calls as this reader may decide them. */
  resolvePending(pending: readonly PendingCall[]): Promise<readonly PendingCall[]>
  readonly protocol: StreamProtocol
  /** The signal of the request: it aborts when the client disconnects. */
  readonly signal: AbortSignal
}

function respond({ clock, heartbeat, metrics }: Host, source: StreamSource, leave: () => void): Response {
  metrics.readers++
  const onClose = () => {
    metrics.readers--
    leave()
  }
  const { headers = {} } = source.protocol
  return sse((out) => writeEvents(source, out, clock), { clock, heartbeat, headers, signal: source.signal, onClose })
}

/** Writes the events for one reader as fast as the reader takes them. Buffered events are sent together. */
async function writeEvents(
  { entries, resolvePending, protocol }: StreamSource,
  out: SseWriter,
  clock: Clock,
): Promise<void> {
  const frames = protocol.frames()
  out.write(frames.begin?.() ?? [])
  try {
    while (!out.closed && frames.done !== true) {
      const entry = entries.take() ?? (await nextEntry(entries, out))
      if (entry === undefined) break
      if (entry.pending !== undefined) await prepare(entry)
      out.write(frames.write(entry))
      if (out.isFull) await out.flush()
    }
  } catch (error) {
    out.write(frames.write({ event: { type: 'run:error', ...problemOf(error, clock.now()) } }))
  }
  out.write(frames.end?.() ?? [])

  async function prepare(entry: RunEntry): Promise<void> {
    entry.pending = await resolvePending(entry.pending ?? [])
    await frames.prepare?.(entry.pending)
  }
}

/** Flushes before it waits for the next entry. */
async function nextEntry(entries: EntryReader, out: SseWriter): Promise<RunEntry | undefined> {
  await out.flush()
  return out.closed ? undefined : entries.next()
}
