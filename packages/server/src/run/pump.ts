import {
  type AgentRun,
  type EventLog,
  followSignal,
  isAlliumError,
  type RunKey,
  type RunResult,
  type SessionKey,
  type Usage,
} from '@allium/core'
import { type Entry, entryOf, Inbox, type Known, LogWriter } from '@allium/durable/log'
import { problemOf } from '../http/problem.ts'
import { type Answering, Readers, type ReadersOptions } from './answering.ts'
import { checkReused } from './asked.ts'
import { type Entries, entriesBehind, entriesIn, entriesOf } from './entries.ts'
import type { Answer } from './result.ts'

export interface PumpOptions extends Known, ReadersOptions {
  readonly log: EventLog
  readonly key: SessionKey
  /** Undefined for a session that is not stored. */
  readonly sessionId: string | undefined
  /** The digest of what it was asked, and by which key. */
  readonly asked: string
  readonly idempotencyKey: string | undefined
}

/** Reads one run into the event log, so that no reader holds it up. */
export class Pump implements Answering {
  readonly key: SessionKey
  readonly sessionId: string | undefined
  readonly asked: string
  readonly idempotencyKey: string | undefined
  /** Its place in the log, once it has one; rejects where it was refused before. */
  readonly started: Promise<RunKey>
  readonly readers: Readers
  readonly ended: Promise<void>
  readonly #run: AgentRun<unknown>
  readonly #options: PumpOptions
  /** When it began. */
  readonly #since: number
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
    this.#since = options.clock.now()
    this.readers = new Readers(options, (reason) => this.stop(reason))
    this.started = new Promise((resolve, reject) => (this.#start = { resolve, reject }))
    this.started.catch(() => {})
    this.ended = this.#pump()
    this.ended.catch(() => {})
  }

  /** Undefined before it has started. */
  turnId: string | undefined

  get result(): Promise<RunResult<unknown>> {
    return this.#run.then()
  }

  /** A run that was stopped has an answer too: what there was of it. */
  async answer(): Promise<Answer> {
    try {
      const { sessionId, turnId, status, text, reason, code, retryAfter, usage, pending, resumes } = await this.result
      await this.started.catch(throwReused)
      return { sessionId, turnId, status, text, reason, code, retryAfter, usage, pending, resumes }
    } catch (error) {
      const { name, partial } = error as { name?: unknown; partial?: { text: string; usage: Usage; turnId?: string } }
      if (name !== 'AbortError' || isAlliumError(error) || partial?.turnId === undefined) throw error
      const { text, usage, turnId } = partial
      return { sessionId: this.key.sessionId, turnId, status: 'aborted', text, usage, pending: [] }
    }
  }

  stop(reason: string): void {
    this.#run.abort(reason)
  }

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
    await this.#writer?.end((id) => this.#inbox?.giveBack(id))
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
    this.#stored = type === 'turn:end'
    if (this.#stored) await this.#checkAsked(run)
    else {
      if (this.idempotencyKey !== undefined) entry.asked = this.asked
      await this.#open(run)
    }
    this.turnId = turnId
    this.#start.resolve(run)
  }

  /** @throws AlliumError `run.key_reused` where the log knows that the key stands for another request */
  async #checkAsked(run: RunKey): Promise<void> {
    const { value } = await this.#options.log.read(run, 0).next()
    const { asked = this.asked } = (value?.event ?? {}) as Partial<Entry>
    checkReused(asked, this.asked, this.idempotencyKey)
  }

  async #open(run: RunKey): Promise<void> {
    const { tenant, owner } = this.key
    const writer = new LogWriter(this.#options.log, run, epoch, {
      onFenced: () => this.stop('its session was deleted, or another process has taken it over'),
      by: { tenant, owner, since: this.#since },
    })
    await writer.open()
    this.#writer = writer
    const inbox = new Inbox(run, (entry) => writer.push(entry))
    this.#inbox = inbox
    this.#unlisten = await this.#options.log.onSignal(run, (signal) =>
      signal.stop === true ? this.stop('stopped by a client') : inbox.hear(this.#run, signal),
    )
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

function throwReused(error: unknown): void {
  if (isAlliumError(error, 'run.key_reused')) throw error
}

/** A run has an id of its own, and one process that runs it. */
const epoch = 1
