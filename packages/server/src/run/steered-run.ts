import type { EventLog, Input, Message, RunKey } from '@allium/core'
import type { Entry } from '@allium/durable/log'
import type { Answering } from './answering.ts'
import { type AttachedOptions, AttachedRun, type Attaching } from './attached.ts'
import { readElsewhere } from './lost.ts'
import type { SteerLimits } from './steer-limits.ts'

export interface Steering extends Omit<AttachedOptions, 'runs' | 'from'> {
  readonly log: EventLog
  /** By which the stream names what was said. */
  readonly id: string
  readonly left: AbortSignal
  readonly steers: SteerLimits
}

/**
 * Says something to the run that goes on in a session, wherever that is: gives the run once it has heard it, from there on.
 * Undefined where nothing runs, or where it had its answer before.
 */
export async function steeredRun(steer: Message['content'], options: Steering): Promise<Answering | undefined> {
  const { log, key, id, left, steers } = options
  const latest = await log.latest(key)
  if (latest === undefined || latest.ended) return undefined
  const run = { key, turnId: latest.turnId }
  steers.count(run, id, steer)
  if (!(await log.signal(run, { steer, id }))) return undefined
  for await (const { seq, event: logged } of readElsewhere({ ...options, events: log }, run, latest.seq, left)) {
    const { type, id: named } = (logged as Entry).event as { type: string; id?: unknown }
    if (named !== id) continue
    if (type === 'steer:returned') return undefined
    if (type === 'steer:heard') return followed(run, seq - 1, options)
  }
  return undefined
}

function followed({ key, turnId }: RunKey, from: number, options: Steering): Answering {
  const run = new AttachedRun(
    { run: turnId, turnId, sessionId: key.sessionId },
    { ...options, runs: logged(options), from },
  )
  run.readers.join()
  return run
}

/** A run of any process, by its log and what is stored of it. */
function logged({ log, sessions, clock, key }: Steering): Attaching {
  const runOf = (turnId: string) => ({ key, turnId })
  return {
    attach: (turnId, { after, signal }) =>
      readElsewhere({ sessions, clock, events: log }, runOf(turnId), after, signal),
    async get(turnId) {
      const { status = 'failed', answer, ...stored } = (await sessions.find(key, { turnId })) ?? {}
      return { ...stored, status, text: answer ?? '' }
    },
    stop: (turnId) => log.signal(runOf(turnId), { stop: true }),
  }
}

/** What may be said to a run: one message of the user. */
export function saidIn(input: Input | undefined): Message['content'] | undefined {
  if (typeof input === 'string') return input
  return input !== undefined && 'role' in input && input.role === 'user' ? input.content : undefined
}
