import { AlliumError, type SessionKey, type Usage } from '@allium/core'
import type { EventReader, RunKey, SessionStore, StoredStatus } from '@allium/store'
import type { Entry } from '@allium/store/event-log'
import type { DurableInfo, DurableRuns } from '../options/durable-runs.ts'
import { concatEntries, deferEntries, type EntryReader, readEntries } from './entry-reader.ts'
import { type Answer, Readers, type ReadersOptions, type RunHandle } from './run-handle.ts'

/** Reads and stops a run, whichever process executes it. */
export interface RunSource extends Pick<DurableRuns, 'stop'> {
  attach(turnId: string, options: { principal: unknown; after: number; signal: AbortSignal }): EventReader
  get(turnId: string, options: { principal: unknown }): Promise<RunState>
}

interface RunState extends Pick<DurableInfo, 'text' | 'usage' | 'code' | 'reason'> {
  readonly status: StoredStatus | DurableInfo['status']
}

export interface RemoteRunOptions extends ReadersOptions {
  readonly runs: RunSource
  /** Readers get the first event, then those after this position. @default all */
  readonly from?: number | undefined
  readonly sessions: SessionStore
  readonly principal: unknown
  readonly key: SessionKey
  readonly idempotencyKey: string | undefined
  /** Returns a stored answer as its reader sees it. */
  display(text: string): Promise<string>
}

/** A run that is read from the log, whichever process executes it. */
export class RemoteRun implements RunHandle {
  readonly key: SessionKey
  readonly sessionId: string
  readonly turnId: string
  readonly idempotencyKey: string | undefined
  readonly started: Promise<RunKey>
  readonly ended: Promise<void>
  readonly readers: Readers
  readonly #options: RemoteRunOptions
  readonly #detached = new AbortController()
  #end: Entry | undefined
  #error: { code: string; message: string } | undefined

  constructor(turnId: string, options: RemoteRunOptions) {
    const { key, idempotencyKey } = options
    this.key = key
    this.sessionId = key.sessionId
    this.turnId = turnId
    this.idempotencyKey = idempotencyKey
    this.#options = options
    this.readers = new Readers(options, (reason) => this.stop(reason))
    this.started = Promise.resolve({ key, turnId })
    this.ended = this.#followToEnd()
    this.ended.catch(() => {})
  }

  stop(reason: string): void {
    const { runs, principal } = this.#options
    runs.stop(this.turnId, { principal, reason }).catch(() => {})
  }

  /** Stops waiting for the run. It continues elsewhere. */
  detach(): void {
    this.#detached.abort()
  }

  entries(signal: AbortSignal): EntryReader {
    return deferEntries(this.#openEntries(AbortSignal.any([signal, this.#detached.signal])))
  }

  /** Returns how the run ended. @throws the error that it failed with */
  async status(): Promise<Answer['status']> {
    await this.#completed()
    const { status } = (this.#end?.event ?? (await this.#info())) as Pick<Answer, 'status'>
    return status
  }

  async answer(): Promise<Answer> {
    await this.#completed()
    const { sessions } = this.#options
    const [turn, info] = await Promise.all([sessions.find(this.key, { turnId: this.turnId }), this.#info()])
    const { status, reason, code: blockCode, retryAfter } = (this.#end?.event ?? info) as Partial<Answer>
    return {
      sessionId: this.sessionId,
      turnId: this.turnId,
      status: status ?? info.status,
      finishReason: turn?.finishReason,
      text: info.text ?? '',
      reason,
      code: blockCode,
      retryAfter,
      usage: info.usage ?? zeroUsage,
      pending: this.#end?.pending ?? [],
      resumes: turn?.resumes,
    }
  }

  async #completed(): Promise<void> {
    await this.ended
    const { code, message } = this.#error ?? {}
    if (code !== undefined) throw new AlliumError(code as AlliumError['code'], message ?? '')
  }

  /** Returns the entries that the log still has. If it has none, returns how the run ended. */
  async #openEntries(signal: AbortSignal): Promise<EntryReader> {
    const logged = readEntries(this.turnId, this.#attach(signal))
    const first = await logged.next()
    if (first !== undefined && this.#options.from !== undefined)
      return concatEntries([first], undefined, readEntries(this.turnId, this.#attach(signal, this.#options.from)))
    if (first !== undefined || signal.aborted) return concatEntries(first ? [first] : [], undefined, logged)
    const { status, text, usage, code, reason } = await this.#info()
    const end = { type: 'turn:end', sessionId: this.sessionId, turnId: this.turnId, status, usage, code, reason }
    const synthesized: Entry[] = [{ event: end as never }]
    if (text !== undefined) synthesized.unshift({ event: { type: 'text-delta', delta: text } })
    return concatEntries(synthesized, undefined, logged)
  }

  #attach(signal: AbortSignal, after = 0): EventReader {
    const { runs, principal } = this.#options
    return runs.attach(this.turnId, { principal, signal, after })
  }

  async #followToEnd(): Promise<void> {
    for await (const { event: logged } of this.#attach(this.#detached.signal)) {
      const entry = logged as Entry
      const { event } = entry
      if (event.type === 'turn:end' && !('path' in event)) this.#end = entry
      if (event.type === 'run:error') this.#error = event as { code: string; message: string }
    }
    if (this.#detached.signal.aborted)
      throw new AlliumError(
        'server.draining',
        'The server is shutting down. The run continues: request its events again.',
      )
  }

  async #info(): Promise<RunState> {
    const { runs, principal, display } = this.#options
    const { text, ...info } = await runs.get(this.turnId, { principal })
    return text === undefined ? info : { ...info, text: await display(text) }
  }
}

const zeroUsage: Usage = { inputTokens: 0, outputTokens: 0, calls: 0 }
