import type { Clock, PendingCall, RunKey, SessionKey } from '@allium/core'
import type { Host } from '../host.ts'
import type { Place } from '../http/fair-share.ts'
import { type Problem, problemOf } from '../http/problem.ts'
import { type Frame, type SseOut, sse, sseHead } from '../http/sse.ts'
import { openedPending } from '../native/waiting.ts'
import { keyOf, type Visit } from '../visit.ts'
import type { Answering } from './answering.ts'
import { type Entries, entriesBehind, entriesIn, entriesOf } from './entries.ts'
import type { Placed } from './entry.ts'
import { headOf } from './head.ts'
import { readElsewhere } from './lost.ts'
import { standing } from './standing.ts'

/** How a protocol writes the events of a run. */
export interface Protocol {
  /** For one reader. */
  frames(): Frames
  readonly headers?: Readonly<Record<string, string>>
  /** It cannot say that an answer begins anew. */
  readonly resetless?: boolean
}

/** The events of one run, as a protocol writes them for one reader. */
export interface Frames {
  write(entry: Placed): Iterable<Frame>
  /** What comes before the first event. */
  begin?(): Iterable<Frame>
  /** What comes behind the last. */
  end?(): Iterable<Frame>
  /** Nothing of what is still to come is written. */
  readonly over?: boolean
  /** Told of calls that wait before the entry is written that has them. */
  prepare?(pending: readonly PendingCall[]): Promise<void>
}

/** The stream of a run, which begins once there is room for its stream; or how it was refused. The reader has joined it. */
export async function streamOf(
  host: Host,
  asks: Visit,
  begin: () => Promise<Answering>,
  protocol: Protocol,
): Promise<Response | Problem> {
  const place = host.shares.streams.take(asks)
  try {
    const answer = await startedStream(host, asks, await begin(), { protocol, place })
    if (!(answer instanceof Response)) place.release()
    return answer
  } catch (error) {
    place.release()
    throw error
  }
}

async function startedStream(
  host: Host,
  asks: Visit,
  run: Answering,
  { protocol, place }: { protocol: Protocol; place: Place },
): Promise<Response | Problem> {
  const { signal } = asks.request
  const left = new AbortController()
  const head = await headOf(run.entries(AbortSignal.any([left.signal, signal])), host.headersAfter, host.clock)
  const open = (pending: readonly PendingCall[]) => openedPending(host, asks, run.sessionId, pending)
  if (head.problem === undefined)
    return respond(host, { entries: head.entries, open, protocol, signal }, () => {
      left.abort()
      run.readers.leave()
      place.release()
    })
  left.abort()
  run.readers.leave()
  return head.problem
}

/** A place in the runs of a session: behind an event. */
export interface From {
  readonly turnId: string
  readonly seq: number
}

/**
 * The stream of the session's last run, from its beginning, or from behind the event that the reader has. Undefined where
 * there is nothing to come.
 */
export async function resumedOf(
  host: Host,
  asks: Visit,
  sessionId: string,
  from: From | undefined,
  protocol: Protocol,
): Promise<Response | undefined> {
  const key = keyOf(asks, sessionId)
  const place = await resumePlace(host, asks, key, from)
  if (place === undefined) return undefined
  if (asks.request.method === 'HEAD') return sseHead(protocol.headers)
  const held = host.shares.streams.take(asks)
  const left = new AbortController()
  const run = host.runs.find(key, place.turnId)
  run?.readers.join()
  const isHere = run !== undefined || (await host.runs.lasting(place.turnId, asks)) !== undefined
  const { signal } = asks.request
  const forget = run === undefined ? host.runs.onClose(() => left.abort()) : () => {}
  const reading = AbortSignal.any([left.signal, signal])
  const source = isHere ? readHere : readElsewhere
  const all = entriesOf(place.turnId, source(host, { key, turnId: place.turnId }, place.seq, reading))
  const leave = () => {
    held.release()
    forget()
    left.abort()
    run?.readers.leave()
  }
  const rest = place.isEarlier ? await begun(all) : all
  if (rest === undefined) return void leave()
  const entries = protocol.resetless === true ? entriesIn(standing(rest, place.known)) : rest
  const open = (pending: readonly PendingCall[]) => openedPending(host, asks, sessionId, pending)
  return respond(host, { entries, open, protocol, signal }, leave)
}

/** Undefined where nothing is to come: of an earlier run the log tells no end. */
async function begun(entries: Entries): Promise<Entries | undefined> {
  const first = await entries.next()
  return first === undefined ? undefined : entriesBehind([first], undefined, entries)
}

/** What a protocol says before the first event and behind the last, where there is none. */
export function toldAlone(host: Host, { request }: Visit, protocol: Protocol): Response {
  const none: Entries = { take: () => undefined, next: async () => undefined }
  return respond(host, { entries: none, open: async (pending) => pending, protocol, signal: request.signal }, () => {})
}

/** Where the log stood when somebody came. */
interface Known {
  readonly known: number
  /** A later run has begun in the session. */
  readonly isEarlier?: true
}

async function resumePlace(
  host: Host,
  asks: Visit,
  key: SessionKey,
  from: From | undefined,
): Promise<(From & Known) | undefined> {
  const { events, sessions } = host
  const latest = await events.latest(key)
  if (latest === undefined) return undefined
  const { turnId, seq, ended } = latest
  if (ended && !(await isStored(host, asks, { key, turnId }))) return undefined
  if (from?.turnId === turnId)
    return from.seq > seq || (ended && from.seq === seq) ? undefined : { ...from, known: seq }
  // Of an earlier run the rest; what names no run of this session is garbage.
  if (from !== undefined && (await sessions.find(key, { turnId: from.turnId })) !== undefined)
    return { ...from, known: 0, isEarlier: true }
  return { turnId, seq: 0, known: seq }
}

/** Events may outlive a session that the application deleted in its store: nobody reads them then. */
async function isStored({ sessions, runs }: Host, asks: Visit, { key, turnId }: RunKey): Promise<boolean> {
  if ((await sessions.find(key, { turnId })) !== undefined) return true
  // A run that failed before its turn was stored.
  return (await runs.lasting(turnId, asks)) !== undefined || (await sessions.load(key)) !== undefined
}

function readHere({ events }: Host, run: RunKey, after: number, signal: AbortSignal) {
  return events.read(run, after, signal)
}

interface Told {
  readonly entries: Entries
  /** The calls that wait as this reader may decide them. */
  open(pending: readonly PendingCall[]): Promise<readonly PendingCall[]>
  readonly protocol: Protocol
  /** Of the request: it aborts when the client disconnects. */
  readonly signal: AbortSignal
}

function respond({ clock, heartbeat, metrics }: Host, told: Told, leave: () => void): Response {
  metrics.readers++
  const left = () => {
    metrics.readers--
    leave()
  }
  const { headers = {} } = told.protocol
  return sse((out) => tell(told, out, clock), { clock, heartbeat, headers, signal: told.signal, left })
}

/** Writes the events for one reader, as fast as they are taken; what is here at one moment goes out together. */
async function tell({ entries, open, protocol }: Told, out: SseOut, clock: Clock): Promise<void> {
  const frames = protocol.frames()
  out.write(frames.begin?.() ?? [])
  try {
    while (!out.gone && frames.over !== true) {
      const entry = entries.take() ?? (await comes(entries, out))
      if (entry === undefined) break
      if (entry.pending !== undefined) await prepare(entry)
      out.write(frames.write(entry))
      if (out.isFull) await out.flush()
    }
  } catch (error) {
    out.write(frames.write({ event: { type: 'run:error', ...problemOf(error, clock.now()) } }))
  }
  out.write(frames.end?.() ?? [])

  async function prepare(entry: Placed): Promise<void> {
    entry.pending = await open(entry.pending ?? [])
    await frames.prepare?.(entry.pending)
  }
}

/** Before it waits for more, what is written goes out. */
async function comes(entries: Entries, out: SseOut): Promise<Placed | undefined> {
  await out.flush()
  return out.gone ? undefined : entries.next()
}
