import type { Input, Message } from '@allium/core'
import type { EventLog, RunKey } from '@allium/store'
import type { Entry } from '@allium/store/event-log'
import { RemoteRun, type RemoteRunOptions, type RunSource } from './remote-run.ts'
import type { RunHandle } from './run-handle.ts'
import { readRemote } from './takeover.ts'

export interface SteerOptions extends Omit<RemoteRunOptions, 'runs' | 'from'> {
  readonly log: EventLog
  /** The id of the message in the stream. */
  readonly id: string
  readonly abandoned: AbortSignal
  /** Sends the message to a run. Returns false if it has ended. */
  readonly send: (run: RunKey) => Promise<boolean>
}

/**
 * Sends a message to the active run of a session, whichever process executes it. Returns the run from the delivery on. Returns
 * undefined if no run is active, or if the run had its answer before the delivery.
 */
export async function steerRun(options: SteerOptions): Promise<RunHandle | undefined> {
  const { log, key, id, abandoned, send } = options
  const latest = await log.latest(key)
  if (latest === undefined || latest.ended) return undefined
  const run = { key, turnId: latest.turnId }
  if (!(await send(run))) return undefined
  for await (const { seq, event: logged } of readRemote({ ...options, events: log }, run, latest.seq, abandoned)) {
    const { type, id: eventId } = (logged as Entry).event as { type: string; id?: unknown }
    if (eventId !== id) continue
    if (type === 'steer:rejected') return undefined
    if (type === 'steer:delivered') return followFrom(run, seq - 1, options)
  }
  return undefined
}

function followFrom({ turnId }: RunKey, from: number, options: SteerOptions): RunHandle {
  const run = new RemoteRun(turnId, { ...options, runs: logSource(options), from })
  run.readers.join()
  return run
}

/** Returns access to a run of any process, by its log and the session store. */
function logSource({ log, sessions, clock, key }: SteerOptions): RunSource {
  const runOf = (turnId: string) => ({ key, turnId })
  return {
    attach: (turnId, { after, signal }) => readRemote({ sessions, clock, events: log }, runOf(turnId), after, signal),
    async get(turnId) {
      const { status = 'failed', answer, ...stored } = (await sessions.find(key, { turnId })) ?? {}
      return { ...stored, status, text: answer ?? '' }
    },
    stop: (turnId) => log.signal(runOf(turnId), { stop: true }),
  }
}

/** Returns the content of an input that a run accepts as a message: one user message. */
export function userContentOf(input: Input | undefined): Message['content'] | undefined {
  if (typeof input === 'string') return input
  return input !== undefined && 'role' in input && input.role === 'user' ? input.content : undefined
}
