import {
  type AgentRun,
  type Clock,
  type EventLog,
  followSignal,
  type RunKey,
  type RunResult,
  type SessionKey,
} from '@allium/core'
import { problemOf } from '../http/problem.ts'
import { type Entries, entriesBehind, entriesIn, entriesOf } from './entries.ts'
import { type Entry, entryOf, type Known } from './entry.ts'
import { Inbox } from './inbox.ts'
import { LogWriter } from './log-writer.ts'

export interface PumpOptions extends Known {
  readonly log: EventLog
  readonly clock: Clock
  readonly key: SessionKey
  /** Undefined for a session that is not stored. */
  readonly sessionId: string | undefined
  /** The digest of what it was asked, and by which key. */
  readonly asked: string
  readonly idempotencyKey: string | undefined
  readonly onDisconnect: 'continue' | 'abort'
  readonly abortAfter: number
}

/** Reads one run into the event log, so that no reader holds it up. */
export class Pump {
  readonly key: SessionKey
  readonly sessionId: string | undefined
  readonly asked: string
  readonly idempotencyKey: string | undefined
  /** Its place in the log, once it has one; rejects where it was refused before. */
  readonly started: Promise<RunKey>
  /** It is over, and all of it is in the log. */
  readonly ended: Promise<void>
  readonly #run: AgentRun<unknown>
  readonly #options: PumpOptions
  #readers = 0
  #writer: LogWriter | undefined
  #inbox: Inbox | undefined
  /** Events before the first that names the run; all of them, where a stored run was answered. */
  readonly #early: Entry[] = []
  #stored = false
  #start!: { resolve(run: RunKey): void; reject(error: unknown): void }
  #unlisten = () => {}

  constructor(run: AgentRun<unknown>, options: PumpOptions) {
    this.key = options.key
    this.sessionId = options.sessionId
    this.asked = options.asked
    this.idempotencyKey = options.idempotencyKey
    this.#run = run
    this.#options = options
    this.started = new Promise((resolve, reject) => (this.#start = { resolve, reject }))
    this.started.catch(() => {})
    this.ended = this.#pump()
    this.ended.catch(() => {})
  }

  /** Undefined before it has started. */
  turnId: string | undefined

  get readers(): number {
    return this.#readers
  }
  get result(): Promise<RunResult<unknown>> {
    return this.#run.then()
  }

  stop(reason: string): void {
    this.#run.abort(reason)
  }

  join(): void {
    this.#readers++
  }

  /** Under `'abort'` a run whose last reader has left ends, unless one comes back in time. */
  leave(): void {
    this.#readers--
    const { onDisconnect, abortAfter, clock } = this.#options
    if (onDisconnect !== 'abort' || this.#readers > 0) return
    const abort = () => {
      if (this.#readers === 0) this.stop('its last reader has left')
    }
    if (abortAfter === 0) abort()
    else clock.after(abortAfter, abort, { idle: true })
  }

  /** The events of the run, from its first on; asking throws what it was refused with, or why its events cannot be kept. */
  entries(signal: AbortSignal): Entries {
    return entriesIn(
      this.started.then((run) => (this.#stored ? this.#storedEntries(run) : this.#liveEntries(run, signal))),
    )
  }

  #liveEntries(run: RunKey, signal: AbortSignal): Entries {
    const reading = new AbortController()
    const release = followSignal(signal, () => reading.abort())
    this.ended.then(release, () => reading.abort())
    const { next, take } = entriesOf(run.turnId, this.#options.log.read(run, 0, reading.signal))
    return {
      take,
      next: async () => {
        const entry = await next()
        if (entry === undefined && reading.signal.aborted && !signal.aborted) await this.ended
        return entry
      },
    }
  }

  /** What the log still has of a run that has ended, else how it did. */
  async #storedEntries(run: RunKey): Promise<Entries> {
    const logged = entriesOf(run.turnId, this.#options.log.read(run, 0))
    const first = await logged.next()
    const known = first === undefined ? this.#early : [first]
    return entriesBehind(known, undefined, logged)
  }

  async #pump(): Promise<void> {
    try {
      for await (const event of this.#run) {
        const entry = entryOf(event, this.#options)
        if (this.#writer === undefined) await this.#begin(entry)
        else this.#push(this.#writer, entry)
      }
    } catch (error) {
      await this.#failed(error)
    }
    this.#unlisten()
    await this.#run.settled()
    await this.#writer?.end((id) => this.#inbox?.giveBack(id, 'The turn had its answer.'))
  }

  #push(writer: LogWriter, entry: Entry): void {
    this.#inbox?.sees(entry.event)
    writer.push(entry)
  }

  async #begin(entry: Entry): Promise<void> {
    this.#early.push(entry)
    const { type, turnId } = entry.event as { type: string; turnId?: unknown }
    if (typeof turnId !== 'string') return
    const run = { key: this.key, turnId }
    // It had ended before, and was found by its idempotency key.
    if (type === 'turn:end') this.#stored = true
    else await this.#open(run)
    this.turnId = turnId
    this.#start.resolve(run)
  }

  async #open(run: RunKey): Promise<void> {
    const writer = new LogWriter(this.#options.log, run)
    await writer.open()
    this.#writer = writer
    const { sessionId } = this.key
    const push = (entry: Entry) => writer.push(entry)
    const inbox = new Inbox(this.#run, { sessionId, turnId: run.turnId, push })
    this.#inbox = inbox
    this.#unlisten = await this.#options.log.onSignal(run, (signal) => inbox.hear(signal))
    for (const entry of this.#early) writer.push(entry)
  }

  /** An aborted run has said so in its `turn:end`. */
  async #failed(error: unknown): Promise<void> {
    if (this.#writer === undefined) this.#run.abort('its events cannot be kept')
    this.#start.reject(error)
    if ((error as { name?: unknown } | undefined)?.name === 'AbortError') return
    this.#writer?.push({ event: { type: 'run:error', ...problemOf(error, this.#options.clock.now()) } })
  }
}
