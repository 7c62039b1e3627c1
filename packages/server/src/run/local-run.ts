import { type AgentRun, isAlliumError, type RunResult, type SessionKey, type Usage } from '@allium/core'
import type { EventLog, RunKey } from '@allium/store'
import {
  type Entry,
  type EntryContext,
  entryOf,
  Inbox,
  LiveEvents,
  LogWriter,
  RunOutput,
} from '@allium/store/event-log'
import { problemOf } from '../http/problem.ts'
import { concatEntries, deferEntries, type EntryReader, readEntries } from './entry-reader.ts'
import { type Answer, Readers, type ReadersOptions, type RunHandle } from './run-handle.ts'
import { checkKeyReuse } from './run-request.ts'

export interface LocalRunOptions extends EntryContext, ReadersOptions {
  readonly log: EventLog
  readonly key: SessionKey
  /** Undefined for a session that is not stored. */
  readonly sessionId: string | undefined
  readonly inputDigest: string
  readonly idempotencyKey: string | undefined
}

/** Writes one run to the event log, so that no reader blocks it. */
export class LocalRun implements RunHandle {
  readonly key: SessionKey
  readonly sessionId: string | undefined
  readonly inputDigest: string
  readonly idempotencyKey: string | undefined
  /** Resolves once the run is in the log. Rejects if it was rejected before. */
  readonly started: Promise<RunKey>
  readonly readers: Readers
  readonly ended: Promise<void>
  readonly #run: AgentRun<unknown>
  readonly #options: LocalRunOptions
  readonly #startedAt: number
  #writer: LogWriter | undefined
  #inbox: Inbox | undefined
  /** Events before the first that has the turn id. All events, if the run is a replay of a stored one. */
  readonly #buffered: Entry[] = []
  #isReplay = false
  /** The events for readers in this process, once the run is in the log. */
  #live: LiveEvents | undefined
  #output: RunOutput | undefined
  #startedDeferred!: { resolve(run: RunKey): void; reject(error: unknown): void }
  #unsubscribe = () => {}
  #unwatch = () => {}

  constructor(run: AgentRun<unknown>, options: LocalRunOptions) {
    this.key = options.key
    this.sessionId = options.sessionId
    this.inputDigest = options.inputDigest
    this.idempotencyKey = options.idempotencyKey
    this.#run = run
    this.#options = options
    this.#startedAt = options.clock.now()
    this.readers = new Readers(options, (reason) => this.stop(reason))
    this.started = new Promise((resolve, reject) => (this.#startedDeferred = { resolve, reject }))
    this.started.catch(() => {})
    this.ended = this.#consume()
    this.ended.catch(() => {})
  }

  /** Undefined before it has started. */
  turnId: string | undefined

  get result(): Promise<RunResult<unknown>> {
    return this.#run.then()
  }

  /** Returns the answer. A run that was stopped has a partial one. */
  async answer(): Promise<Answer> {
    try {
      const { sessionId, turnId, status, finishReason, text, reason, code, retryAfter, usage, pending, resumes } =
        await this.result
      await this.started.catch(rethrowKeyReuse)
      return { sessionId, turnId, status, finishReason, text, reason, code, retryAfter, usage, pending, resumes }
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

  entries(signal: AbortSignal, after = 0): EntryReader {
    return deferEntries(
      this.started.then((run) =>
        this.#live === undefined
          ? this.#storedEntries(run)
          : readEntries(run.turnId, this.#live.read(after, signal, this.ended)),
      ),
    )
  }

  /** The position of the last event that a reader may have. */
  get seq(): number {
    return this.#live?.seq ?? 0
  }

  /** Returns the entries that the log still has of an ended run, else how it ended. */
  async #storedEntries(run: RunKey): Promise<EntryReader> {
    const logged = readEntries(run.turnId, this.#options.log.read(run, 0))
    const first = await logged.next()
    const initial = first === undefined ? this.#buffered : [first]
    return concatEntries(initial, undefined, logged)
  }

  async #consume(): Promise<void> {
    try {
      for await (const event of this.#run) {
        const entry = entryOf(event, this.#options)
        if (this.#writer === undefined) await this.#handleFirstEntry(entry)
        else this.#push(entry)
      }
    } catch (error) {
      await this.#handleError(error)
    }
    this.#unsubscribe()
    await this.#run.settled()
    this.#unwatch()
    this.#output?.flush()
    try {
      await this.#writer?.end((id) => {
        this.#inbox?.giveBack(id)
        this.#output?.flush()
      })
    } finally {
      this.#live?.end()
    }
  }

  #push(entry: Entry): void {
    this.#inbox?.sees(entry.event)
    this.#output?.push(entry)
  }

  async #handleFirstEntry(entry: Entry): Promise<void> {
    this.#buffered.push(entry)
    const { type, turnId } = entry.event as { type: string; turnId?: unknown }
    if (typeof turnId !== 'string') return
    const run = { key: this.key, turnId }
    // The idempotency key found a run that has ended.
    this.#isReplay = type === 'turn:end'
    if (this.#isReplay) await this.#checkKeyReuse(run)
    else {
      if (this.idempotencyKey !== undefined) entry.fingerprint = this.inputDigest
      await this.#openLog(run)
    }
    this.turnId = turnId
    this.#startedDeferred.resolve(run)
  }

  /** @throws AlliumError `run.key_reused` if the log has another request for the key */
  async #checkKeyReuse(run: RunKey): Promise<void> {
    const { value } = await this.#options.log.read(run, 0).next()
    const { fingerprint = this.inputDigest } = (value?.event ?? {}) as Partial<Entry>
    checkKeyReuse(fingerprint, this.inputDigest, this.idempotencyKey)
  }

  async #openLog(run: RunKey): Promise<void> {
    const { tenant, owner } = this.key
    const { log } = this.#options
    const live = new LiveEvents((after) => log.read(run, after))
    const writer = new LogWriter(log, run, epoch, {
      onFenced: () => this.stop(fencedReason),
      onLogged: (seq) => live.logged(seq),
      by: { tenant, owner, since: this.#startedAt },
      interval: writeInterval,
      slot: writeSlot,
    })
    await writer.open()
    writer.delayFirstWrite()
    this.#writer = writer
    this.#live = live
    this.#output = new RunOutput(live, writer)
    this.#watchDeletion(run, live)
    const inbox = new Inbox(run, (entry) => this.#push(entry))
    this.#inbox = inbox
    this.#unsubscribe = await log.onSignal(run, (signal) =>
      signal.stop === true ? this.stop('stopped by a client') : inbox.hear(this.#run, signal),
    )
    for (const entry of this.#buffered) this.#push(entry)
  }

  /** Stops the run and its readers when the run is deleted from the log: a reader of the log beyond all events ends then. */
  #watchDeletion(run: RunKey, live: LiveEvents): void {
    const watch = this.#options.log.read(run, Number.MAX_SAFE_INTEGER)
    let isEnding = false
    this.#unwatch = () => {
      isEnding = true
      void watch.return?.()
    }
    watch.next().then(
      () => {
        if (isEnding) return
        live.cut()
        this.stop(fencedReason)
      },
      () => {},
    )
  }

  /** Reports an error. An aborted run reports that in its `turn:end`. */
  async #handleError(error: unknown): Promise<void> {
    if (this.#writer === undefined) this.#run.abort('its events cannot be stored')
    this.#startedDeferred.reject(error)
    if ((error as { name?: unknown } | undefined)?.name === 'AbortError') return
    this.#push({ event: { type: 'run:error', ...problemOf(error, this.#options.clock.now()) } })
  }
}

function rethrowKeyReuse(error: unknown): void {
  if (isAlliumError(error, 'run.key_reused')) throw error
}

const fencedReason = 'its session was deleted, or another process has taken it over'

/** The epoch of the process that executes a run. A takeover has a higher one. */
const epoch = 1

/** Milliseconds between two writes to the log. With the poll of another process, its readers get an event within 100 ms. */
const writeInterval = 50

/** The writes of all runs of the process happen at multiples of this, in milliseconds. */
const writeSlot = 10
