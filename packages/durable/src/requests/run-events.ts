import type { DurableRun, LoggedEvent } from '@allium/store'
import { type Entry, toEntry } from '@allium/store/event-log'
import type { Host } from '../host/host.ts'
import { publicError } from '../run/run-errors.ts'
import { isEnd } from '../run/run-reporter.ts'
import type { OwnedRuns, RunAccess } from './owned-runs.ts'

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

type EventsHost = Pick<Host, 'stores' | 'clock' | 'limits' | 'unloggedEnds'>

/** Follows the events of runs in the event log, whichever process executes them. */
export class RunEvents {
  readonly #host: EventsHost
  readonly #owned: OwnedRuns

  constructor(host: EventsHost, owned: OwnedRuns) {
    this.#host = host
    this.#owned = owned
  }

  async *attach(run: string, options: AttachOptions): AsyncGenerator<AttachedEvent, undefined> {
    const { principal, after = 0, signal } = options
    const { key } = this.#owned.findLive(run, principal) ?? (await this.#owned.find(run, principal))
    const watch = this.#host.unloggedEnds.watch(run)
    const ended = watch.abortController.signal
    const either = signal === undefined ? ended : AbortSignal.any([signal, ended])
    try {
      let seq = after
      for await (const logged of this.#read(run, key, { principal, after, signal: either })) {
        seq = logged.seq
        yield logged
      }
      if (watch.error === undefined) return undefined
      yield { seq: seq + 1, event: { event: { type: 'run:error', ...publicError(watch.error) } } }
      return undefined
    } finally {
      watch.stop()
    }
  }

  /** Reads the log until the run is over. A run that continues later has a log that closes and opens again. */
  async *#read(
    run: string,
    key: DurableRun['key'],
    { principal, after, signal }: { principal: unknown; after: number; signal: AbortSignal },
  ): AsyncGenerator<AttachedEvent, undefined> {
    const { clock, limits, stores } = this.#host
    const isAborted = () => signal.aborted
    let seq = after
    let isOver = false
    while (!isAborted()) {
      for await (const logged of stores.events.read({ key, turnId: run }, seq, signal)) {
        seq = logged.seq
        isOver ||= isFinal(logged)
        yield { seq, event: toEntry(logged) }
      }
      if (isOver || isAborted()) break
      const { status } = await this.#owned.find(run, principal)
      const latest = await stores.events.latest(key)
      const isOpen = latest?.turnId === run && !latest.ended
      if (!isOpen && status !== 'queued' && (status !== 'running' || seq > 0)) return undefined
      await new Promise<void>((resolve) => clock.after(Math.min(1000, limits.lease / 10), resolve))
    }
    return undefined
  }
}

/** Whether an event ends a run that cannot be retried. A failed run can, and a sub-agent's run has its own end. */
function isFinal(logged: LoggedEvent): boolean {
  const entry = toEntry(logged)
  return isEnd(entry) && (entry.event as { status?: unknown }).status !== 'failed'
}
