import { type AgentRun, followSignal, isAlliumError, type RunResult, type SessionKey, type Usage } from '@allium/core'
import { type Entry, type EntryContext, entryOf, Inbox, LogWriter } from '@allium/event-log'
import type { EventLog, RunKey } from '@allium/store'
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
  #startedDeferred!: { resolve(run: RunKey): void; reject(error: unknown): void }
  #unsubscribe = () => {}

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
      const { sessionId, turnId, status, text, reason, code, retryAfter, usage, pending, resumes } = await this.result
      await this.started.catch(rethrowKeyReuse)
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

  entries(signal: AbortSignal): EntryReader {
    return deferEntries(
      this.started.then((run) => (this.#isReplay ? this.#storedEntries(run) : this.#liveEntries(run, signal))),
    )
  }

  #liveEntries(run: RunKey, signal: AbortSignal): EntryReader {
    const readAbort = new AbortController()
    const release = followSignal(signal, () => readAbort.abort())
    this.ended.then(release, () => readAbort.abort())
    const { next, take } = readEntries(run.turnId, this.#options.log.read(run, 0, readAbort.signal))
    return {
      take,
      next: async () => {
        const entry = await next()
        if (entry === undefined && readAbort.signal.aborted && !signal.aborted) await this.ended
        return entry
      },
    }
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
        else this.#push(this.#writer, entry)
      }
    } catch (error) {
      await this.#handleError(error)
    }
    this.#unsubscribe()
    await this.#run.settled()
    await this.#writer?.end((id) => this.#inbox?.giveBack(id))
  }

  #push(writer: LogWriter, entry: Entry): void {
    this.#inbox?.sees(entry.event)
    writer.push(entry)
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
      if (this.idempotencyKey !== undefined) entry.asked = this.inputDigest
      await this.#openLog(run)
    }
    this.turnId = turnId
    this.#startedDeferred.resolve(run)
  }

  /** @throws AlliumError `run.key_reused` if the log has another request for the key */
  async #checkKeyReuse(run: RunKey): Promise<void> {
    const { value } = await this.#options.log.read(run, 0).next()
    const { asked = this.inputDigest } = (value?.event ?? {}) as Partial<Entry>
    checkKeyReuse(asked, this.inputDigest, this.idempotencyKey)
  }

  async #openLog(run: RunKey): Promise<void> {
    const { tenant, owner } = this.key
    const writer = new LogWriter(this.#options.log, run, epoch, {
      onFenced: () => this.stop('its session was deleted, or another process has taken it over'),
      by: { tenant, owner, since: this.#startedAt },
    })
    await writer.open()
    this.#writer = writer
    const inbox = new Inbox(run, (entry) => writer.push(entry))
    this.#inbox = inbox
    this.#unsubscribe = await this.#options.log.onSignal(run, (signal) =>
      signal.stop === true ? this.stop('stopped by a client') : inbox.hear(this.#run, signal),
    )
    for (const entry of this.#buffered) writer.push(entry)
  }

  /** Reports an error. An aborted run reports that in its `turn:end`. */
  async #handleError(error: unknown): Promise<void> {
    if (this.#writer === undefined) this.#run.abort('its events cannot be kept')
    this.#startedDeferred.reject(error)
    if ((error as { name?: unknown } | undefined)?.name === 'AbortError') return
    this.#writer?.push({ event: { type: 'run:error', ...problemOf(error, this.#options.clock.now()) } })
  }
}

function rethrowKeyReuse(error: unknown): void {
  if (isAlliumError(error, 'run.key_reused')) throw error
}

/** The epoch of the process that executes a run. A takeover has a higher one. */
const epoch = 1
