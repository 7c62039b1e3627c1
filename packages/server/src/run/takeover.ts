import type { Clock } from '@allium/core'
import { interruptedTurn } from '@allium/core/internal'
import type { EventLog, EventReader, LoggedEvent, RunKey, SessionStore } from '@allium/store'
import { type Entry, maxUnlogged, type RunError } from '@allium/store/event-log'

interface RemoteHost {
  readonly sessions: SessionStore
  readonly events: EventLog
  readonly clock: Clock
}

/** Milliseconds without an event after which a reader checks whether the run's process is lost. A lease lasts as long. */
const silenceTimeout = 10_000

/**
 * Reads the events of a run that another process executes. If that process is lost, the run is stored as interrupted, and its readers
 * get an error and the end of the stream. No other process would end it.
 */
export function readRemote(host: RemoteHost, run: RunKey, after: number, signal: AbortSignal): EventReader {
  const { clock } = host
  const events = host.events.read(run, after, signal)
  let [seq, lastEventAt, ended] = [after, clock.monotonic(), signal.aborted]
  let disarm = () => {}
  const arm = (ms = silenceTimeout) => {
    if (!ended) disarm = clock.after(ms, checkOwner, { idle: true })
  }
  const checkOwner = () => {
    const remaining = lastEventAt + silenceTimeout - clock.monotonic()
    // If the check fails now, it is repeated.
    if (remaining > 0) arm(remaining)
    else void takeOverIfLost(host, run, seq).then(rearm, rearm)
  }
  const rearm = () => arm()
  const end = () => {
    ended = true
    disarm()
  }
  const observe = (event: LoggedEvent | undefined) => {
    if (event === undefined) return undefined
    const shown = isInterruption(event) ? behindAllReaders(event) : event
    ;[seq, lastEventAt] = [shown.seq, clock.monotonic()]
    return shown
  }
  signal.addEventListener('abort', end, { once: true })
  arm()
  return {
    take: () => observe(events.take?.()),
    async next() {
      try {
        const { value } = await events.next()
        const event = value === undefined && !ended ? await endOfLostRun(host.events, run, seq) : observe(value)
        if (event === undefined || value === undefined) end()
        if (event === undefined) return { value: undefined, done: true }
        seq = event.seq
        return { value: event, done: false }
      } catch (error) {
        end()
        throw error
      }
    },
    async return() {
      end()
      return (await events.return?.()) ?? { value: undefined, done: true }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Returns the end of a lost run for a reader that has events which its process could not log any more. */
async function endOfLostRun(events: EventLog, run: RunKey, after: number): Promise<LoggedEvent | undefined> {
  const latest = await events.latest(run.key)
  if (latest?.turnId !== run.turnId || !latest.ended || after >= latest.seq + maxUnlogged) return undefined
  return interruptionAt(events, run, latest.seq)
}

/** Returns the event at a position of the log if it says that the process of the run was lost. */
export async function interruptionAt(
  events: Pick<EventLog, 'read'>,
  run: RunKey,
  seq: number,
): Promise<LoggedEvent | undefined> {
  const { value } = await events.read(run, seq - 1).next()
  return value !== undefined && isInterruption(value) ? behindAllReaders(value) : undefined
}

function isInterruption({ event }: LoggedEvent): boolean {
  const { type, code } = (event as Entry).event as { type: string; code?: unknown }
  return type === 'run:error' && code === interruptedEntry.event.code
}

/**
 * Moves the interruption behind every event that a reader of the lost process may have. So a reader that comes back with the id of any
 * of these gets it, and one that has it does not get it again.
 */
function behindAllReaders({ seq, event }: LoggedEvent): LoggedEvent {
  return { seq: seq + maxUnlogged, event }
}

/** Skips the takeover if the log has more events: then the reader is slow. */
async function takeOverIfLost({ sessions, events, clock }: RemoteHost, run: RunKey, seq: number): Promise<void> {
  const latest = await events.latest(run.key)
  if (latest?.turnId !== run.turnId || latest.ended || latest.seq > seq) return
  const { lease } = await sessions.acquire(run.key, silenceTimeout)
  if (lease === undefined) return
  if (!(await storeInterrupted(sessions, lease, run.turnId, clock.now()))) await sessions.release(lease)
  await events.append(run, takeoverEpoch, [interruptedEntry], { end: true, mustExist: true })
}

/** Returns false if the turn is stored already: its process was lost right after that. */
async function storeInterrupted(
  sessions: SessionStore,
  lease: Parameters<SessionStore['append']>[0],
  turnId: string,
  now: number,
): Promise<boolean> {
  const { version = 0 } = (await sessions.head(lease.key)) ?? {}
  const open = await sessions.find(lease.key, { turnId }, { files: 'atOnce' })
  if (open === undefined || open.endedAt !== undefined) return false
  await sessions.append(lease, version, interruptedTurn(open, now), { release: true })
  return true
}

/** The run itself has epoch 1. */
const takeoverEpoch = 2

const interruptedEntry: { event: RunError } = {
  event: {
    type: 'run:error',
    status: 409,
    code: 'run.interrupted',
    message:
      'The answer was interrupted because its process was lost. The stored part remains. Send the message again.',
  },
}
