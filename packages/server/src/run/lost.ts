import { interruptedTurn, type LoggedEvent, type RunKey, type SessionStore } from '@allium/core'
import type { Host } from '../host.ts'
import type { Entry } from './entry.ts'

/** Milliseconds without an event after which somebody asks whether the process that runs it is still there; a lease is as long. */
const silence = 10_000

/**
 * The events of a run that another process runs. Where that is lost, the run is kept as interrupted, and its readers are told and come
 * to their end: nobody else would end it.
 */
export async function* readElsewhere(
  host: Host,
  run: RunKey,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<LoggedEvent, undefined> {
  let seq = after
  let over = false
  let disarm = () => {}
  const arm = () => {
    disarm()
    if (!over) disarm = host.clock.after(silence, check, { idle: true })
  }
  // What cannot be asked now is asked again.
  const check = () => void endIfLost(host, run, seq).then(arm, arm)
  arm()
  try {
    for await (const event of host.events.read(run, after, signal)) {
      seq = event.seq
      arm()
      yield event
    }
  } finally {
    over = true
    disarm()
  }
  return undefined
}

/** Not where there is more to read: then it is the reader who is slow. */
async function endIfLost({ sessions, events, clock }: Host, run: RunKey, seq: number): Promise<void> {
  const latest = await events.latest(run.key)
  if (latest?.turnId !== run.turnId || latest.ended || latest.seq > seq) return
  const { lease } = await sessions.acquire(run.key, silence)
  if (lease === undefined) return
  if (!(await keepInterrupted(sessions, lease, run.turnId, clock.now()))) await sessions.release(lease)
  await events.append(run, newer, [told], { end: true })
}

/** False where it is stored already: its process was lost right behind that. */
async function keepInterrupted(
  sessions: SessionStore,
  lease: Parameters<SessionStore['append']>[0],
  turnId: string,
  now: number,
): Promise<boolean> {
  const { open, version = 0 } = (await sessions.load(lease.key)) ?? {}
  if (open?.turnId !== turnId) return false
  await sessions.append(lease, version, interruptedTurn(open, now), { release: true })
  return true
}

/** The run itself has the epoch 1. */
const newer = 2

const told: Entry = {
  event: {
    type: 'run:error',
    status: 409,
    code: 'run.interrupted',
    message: 'The answer was cut off, for its process was lost. What was stored of it stays: ask again.',
  },
}
