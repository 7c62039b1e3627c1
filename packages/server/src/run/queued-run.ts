import { AbortError, type AlliumError, type Clock, type SessionKey } from '@allium/core'
import { deferEntries, type EntryReader } from './entry-reader.ts'
import { type Answer, Readers, type RunHandle } from './run-handle.ts'

/** The session and idempotency key of a run. */
export interface QueuedRunOptions {
  readonly key: SessionKey
  readonly idempotencyKey: string | undefined
  readonly clock: Clock
}

/** A run that is started, or found, later. If its reader leaves before, it does not start. */
export class QueuedRun implements RunHandle {
  readonly key: SessionKey
  readonly sessionId: string
  readonly idempotencyKey: string | undefined
  readonly started: Promise<unknown>
  readonly ended: Promise<void>
  readonly #resolved: Promise<RunHandle>
  readonly #abandoned = new AbortController()
  readonly #pendingReaders: Readers
  #run: RunHandle | undefined

  /** @param start returns a run that its reader has joined; its signal aborts when the reader has left */
  constructor({ key, idempotencyKey, clock }: QueuedRunOptions, start: (abandoned: AbortSignal) => Promise<RunHandle>) {
    this.key = key
    this.sessionId = key.sessionId
    this.idempotencyKey = idempotencyKey
    this.#pendingReaders = new Readers({ clock, onDisconnect: 'abort', abortAfter: 0 }, () => this.#leave())
    this.#pendingReaders.join()
    this.#resolved = this.#startRun(start)
    this.started = this.#resolved.then(({ started }) => started)
    this.ended = this.#resolved.then(({ ended }) => ended)
    for (const promise of [this.started, this.ended]) promise.catch(() => {})
  }

  get turnId(): string | undefined {
    return this.#run?.turnId
  }
  get readers(): Readers {
    return this.#run?.readers ?? this.#pendingReaders
  }

  answer(): Promise<Answer> {
    return this.#resolved.then((run) => run.answer())
  }
  entries(signal: AbortSignal): EntryReader {
    return deferEntries(this.#resolved.then((run) => run.entries(signal)))
  }
  stop(reason: string): void {
    if (this.#run === undefined) this.#leave()
    else this.#run.stop(reason)
  }

  /** Rejects the run with an error unless it has started. Resolves once it cannot start anymore. */
  async drop(error: AlliumError): Promise<void> {
    this.#abandoned.abort(error)
    await this.started.catch(() => {})
  }

  #leave(): void {
    this.#abandoned.abort(new AbortError('No client is waiting for the answer anymore.'))
  }

  async #startRun(start: (abandoned: AbortSignal) => Promise<RunHandle>): Promise<RunHandle> {
    const run = await start(this.#abandoned.signal)
    this.#run = run
    if (this.#abandoned.signal.aborted) run.readers.leave()
    return run
  }
}
