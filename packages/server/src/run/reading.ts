import type { LoggedEvent, RunKey, SessionKey } from '@allium/core'
import type { Host } from '../host.ts'
import type { Problem } from '../http/problem.ts'
import { type Frame, sse } from '../http/sse.ts'
import { openedPending } from '../native/waiting.ts'
import { keyOf, type Visit } from '../visit.ts'
import { type Placed, placed } from './entry.ts'
import { headOf } from './head.ts'
import { readElsewhere } from './lost.ts'
import type { Pump } from './pump.ts'

/** How a protocol writes the events of a run. */
export interface Protocol {
  frames(entries: AsyncGenerator<Placed, undefined>): AsyncGenerator<Frame, unknown>
  readonly headers?: Readonly<Record<string, string>>
}

/** The stream of a run that was asked for just now, or how it was refused. The reader has joined it. */
export async function streamOf(host: Host, asks: Visit, pump: Pump, protocol: Protocol): Promise<Response | Problem> {
  const left = new AbortController()
  const entries = openedEntries(host, asks, pump.sessionId, pump.entries(left.signal))
  const head = await headOf(entries, host.headersAfter, host.clock)
  if (head.problem === undefined)
    return respond(host, head.entries, protocol, () => {
      left.abort()
      pump.leave()
    })
  left.abort()
  pump.leave()
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
  const place = await resumePlace(host, key, from)
  if (place === undefined) return undefined
  const left = new AbortController()
  const pump = host.runs.find(key, place.turnId)
  pump?.join()
  const source = pump === undefined ? readElsewhere : readHere
  const events = source(host, { key, turnId: place.turnId }, place.seq, left.signal)
  const entries = openedEntries(host, asks, sessionId, follow(events, place))
  return respond(host, entries, protocol, () => {
    left.abort()
    pump?.leave()
  })
}

/** The calls that wait as this reader may decide them. */
async function* openedEntries(
  host: Host,
  asks: Visit,
  sessionId: string | undefined,
  entries: AsyncGenerator<Placed, undefined>,
): AsyncGenerator<Placed, undefined> {
  for await (const entry of entries) {
    const { pending } = entry
    yield pending === undefined ? entry : { ...entry, pending: await openedPending(host, asks, sessionId, pending) }
  }
  return undefined
}

async function resumePlace(
  { events, sessions }: Host,
  key: SessionKey,
  from: From | undefined,
): Promise<From | undefined> {
  const latest = await events.latest(key)
  if (latest === undefined) return undefined
  const { turnId, seq, ended } = latest
  if (from?.turnId === turnId) return from.seq > seq || (ended && from.seq === seq) ? undefined : from
  // Of an earlier run the rest; what names no run of this session is garbage.
  if (from !== undefined && (await sessions.find(key, { turnId: from.turnId })) !== undefined) return from
  return { turnId, seq: 0 }
}

function readHere({ events }: Host, run: RunKey, after: number, signal: AbortSignal) {
  return events.read(run, after, signal)
}

async function* follow(events: AsyncIterable<LoggedEvent>, { turnId }: From) {
  for await (const event of events) yield placed(turnId, event)
  return undefined
}

function respond(
  { clock, heartbeat, metrics }: Host,
  entries: AsyncGenerator<Placed, undefined>,
  { frames, headers = {} }: Protocol,
  leave: () => void,
): Response {
  metrics.readers++
  const left = () => {
    metrics.readers--
    leave()
  }
  return sse(frames(entries), { clock, heartbeat, headers, left })
}
