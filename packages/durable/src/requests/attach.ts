import type { LoggedEvent } from '@allium/store'
import { type Entry, toEntry } from '@allium/store/event-log'
import { publicError } from '../run/run-errors.ts'
import { isEnd } from '../run/run-reporter.ts'
import type { Worker } from '../worker/worker.ts'
import { ownedLiveRun, ownedRun, type RunAccess } from './owned-run.ts'

/** An event of a run, with its position: pass its `seq` as `after` to continue from here. */
export interface AttachedEvent {
  readonly seq: number
  /** `event.event` is an event of the stream. */
  readonly event: Entry
}

export interface AttachOptions extends RunAccess {
  after?: number
  signal?: AbortSignal
}

/** Follows the events of a run, whichever process executes it. The log of a run that continues later closes and opens again. */
export async function* attach(
  worker: Worker,
  run: string,
  { principal, after = 0, signal }: AttachOptions = {},
): AsyncGenerator<AttachedEvent, undefined> {
  const { clock, lease, events, unloggedEnds } = worker.host
  const { key } = ownedLiveRun(worker, run, principal) ?? (await ownedRun(worker, run, principal))
  const watch = unloggedEnds.watch(run)
  const left = signal === undefined ? watch.signal : AbortSignal.any([signal, watch.signal])
  const hasLeft = () => left.aborted
  let seq = after
  let isOver = false
  try {
    while (!hasLeft()) {
      for await (const logged of events.read({ key, turnId: run }, seq, left)) {
        seq = logged.seq
        isOver ||= isFinal(logged)
        yield { seq, event: toEntry(logged) }
      }
      if (isOver || hasLeft()) break
      const { status } = await ownedRun(worker, run, principal)
      const latest = await events.latest(key)
      const isOpen = latest?.turnId === run && !latest.ended
      if (!isOpen && status !== 'queued' && (status !== 'running' || seq > 0)) break
      await new Promise<void>((resolve) => clock.after(Math.min(1000, lease / 10), resolve))
    }
    if (!watch.signal.aborted) return undefined
    yield { seq: seq + 1, event: { event: { type: 'run:error', ...publicError(watch.signal.reason) } } }
    return undefined
  } finally {
    watch.stop()
  }
}

/** Whether an event ends a run that cannot be retried. A failed run can, and a sub-agent's run has its own end. */
function isFinal(logged: LoggedEvent): boolean {
  const entry = toEntry(logged)
  return isEnd(entry) && (entry.event as { status?: unknown }).status !== 'failed'
}
