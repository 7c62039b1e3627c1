import { AbortError, type Clock, followSignal, type PendingCall } from '@allium/core'
import { pendingForReader } from '../approvals/pending-calls.ts'
import type { Limits, StoreReader } from '../host/host.ts'
import type { Permit } from '../http/fair-share.ts'
import { type Problem, problemOf } from '../http/problem.ts'
import { type Frame, type SseWriter, sse } from '../http/sse.ts'
import type { Caller } from '../request/caller.ts'
import type { EntryReader, RunEntry } from '../run/entry-reader.ts'
import { firstEvent } from '../run/first-event.ts'
import type { RunHandle } from '../run/run-handle.ts'

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
  isDone?(): boolean
  /** Called with pending calls before their entry is written. */
  prepare?(pending: readonly PendingCall[]): Promise<void>
}

/** Acquires a stream permit, starts a run and streams it, or returns why it was rejected. The reader has joined the run. */
export async function streamRun(
  host: StoreReader & Limits,
  caller: Caller,
  start: () => Promise<RunHandle>,
  protocol: StreamProtocol,
): Promise<Response | Problem> {
  const permit = host.shares.streams.acquire(caller)
  try {
    return await openStream(host, caller, await start(), { protocol, permit })
  } catch (error) {
    permit.release()
    throw error
  }
}

async function openStream(
  host: StoreReader & Limits,
  caller: Caller,
  run: RunHandle,
  { protocol, permit }: { protocol: StreamProtocol; permit: Permit },
): Promise<Response | Problem> {
  const { signal } = caller.request
  const readerAbort = new AbortController()
  const leave = () => {
    readerAbort.abort(readerLeft)
    run.readers.leave()
    permit.release()
  }
  // Cheaper than AbortSignal.any(). Once it streams, the response notices that the client disconnects.
  const release = followSignal(signal, () => readerAbort.abort(readerLeft))
  const { entries, problem } = await firstEvent(run.entries(readerAbort.signal), host.headersAfter, host.clock)
  release()
  if (problem !== undefined) {
    leave()
    return problem
  }
  const resolvePending = (pending: readonly PendingCall[]) => pendingForReader(host, caller, run.sessionId, pending)
  return respond(host, { entries, resolvePending, protocol, signal }, leave)
}

/** One error for all, because each new one would record its stack. */
const readerLeft = new AbortError('The reader has left.')

/** The entries of a run for one reader. */
interface StreamSource {
  readonly entries: EntryReader
  /** Returns the pending calls as this reader may decide them. */
  resolvePending(pending: readonly PendingCall[]): Promise<readonly PendingCall[]>
  readonly protocol: StreamProtocol
  /** The signal of the request: it aborts when the client disconnects. */
  readonly signal: AbortSignal
}

/** Streams the entries. Calls `leave` once the reader is gone or has received all of them. */
export function respond({ clock, heartbeat, metrics }: Limits, source: StreamSource, leave: () => void): Response {
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
    while (!out.closed && frames.isDone?.() !== true) {
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
function nextEntry(entries: EntryReader, out: SseWriter): Promise<RunEntry | undefined> | undefined {
  const flushed = out.flush()
  if (flushed === undefined) return out.closed ? undefined : entries.next()
  return flushed.then(() => (out.closed ? undefined : entries.next()))
}
