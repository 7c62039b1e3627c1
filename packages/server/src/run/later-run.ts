import { AbortError, type AlliumError, type Clock, type SessionKey } from '@allium/core'
import { type Answering, Readers } from './answering.ts'
import { type Entries, entriesIn } from './entries.ts'
import type { Answer } from './result.ts'

/** Of whom a run is. */
export interface LaterOptions {
  readonly key: SessionKey
  readonly idempotencyKey: string | undefined
  readonly clock: Clock
}

/** A run that begins later, or is found then. Who leaves before has asked for nothing. */
export class LaterRun implements Answering {
  readonly key: SessionKey
  readonly sessionId: string
  readonly idempotencyKey: string | undefined
  readonly started: Promise<unknown>
  readonly ended: Promise<void>
  readonly #found: Promise<Answering>
  readonly #left = new AbortController()
  readonly #waiting: Readers
  #run: Answering | undefined

  /** @param find gives a run that its reader has joined; its signal aborts when they have left */
  constructor({ key, idempotencyKey, clock }: LaterOptions, find: (left: AbortSignal) => Promise<Answering>) {
    this.key = key
    this.sessionId = key.sessionId
    this.idempotencyKey = idempotencyKey
    this.#waiting = new Readers({ clock, onDisconnect: 'abort', abortAfter: 0 }, () => this.#leave())
    this.#waiting.join()
    this.#found = this.#find(find)
    this.started = this.#found.then(({ started }) => started)
    this.ended = this.#found.then(({ ended }) => ended)
    for (const promise of [this.started, this.ended]) promise.catch(() => {})
  }

  get turnId(): string | undefined {
    return this.#run?.turnId
  }
  get readers(): Readers {
    return this.#run?.readers ?? this.#waiting
  }

  answer(): Promise<Answer> {
    return this.#found.then((run) => run.answer())
  }
  entries(signal: AbortSignal): Entries {
    return entriesIn(this.#found.then((run) => run.entries(signal)))
  }
  stop(reason: string): void {
    if (this.#run === undefined) this.#leave()
    else this.#run.stop(reason)
  }

  /** Ends it with an error, unless it has begun. Resolves once it begins no more. */
  async drop(error: AlliumError): Promise<void> {
    this.#left.abort(error)
    await this.started.catch(() => {})
  }

  #leave(): void {
    this.#left.abort(new AbortError('Nobody waits for the answer any more.'))
  }

  async #find(find: (left: AbortSignal) => Promise<Answering>): Promise<Answering> {
    const run = await find(this.#left.signal)
    this.#run = run
    if (this.#left.signal.aborted) run.readers.leave()
    return run
  }
}
