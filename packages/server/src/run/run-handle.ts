import type { Clock, FinishReason, PendingCall, SessionKey, Usage } from '@allium/core'
import type { EntryReader } from './entry-reader.ts'

/** A run as its readers see it. */
export interface RunHandle {
  readonly key: SessionKey
  /** Undefined for a session that is not stored. */
  readonly sessionId: string | undefined
  readonly idempotencyKey: string | undefined
  /** Undefined before it has started. */
  readonly turnId: string | undefined
  /** Resolves once the run is in the log. Rejects if the run was rejected before. */
  readonly started: Promise<unknown>
  /** Resolves once the run is over and the log has all of it. */
  readonly ended: Promise<void>
  readonly readers: Readers
  /** Returns the answer. @throws the error that the run failed with */
  answer(): Promise<Answer>
  /** Returns the events from the first one on. `next()` throws if the run was rejected or its events cannot be stored. */
  entries(signal: AbortSignal): EntryReader
  stop(reason: string): void
}

export interface ReadersOptions {
  readonly clock: Clock
  readonly onDisconnect: 'continue' | 'abort'
  /** Milliseconds to wait for a reader to come back. */
  readonly abortAfter: number
}

/**
 * Counts the readers of a run in this process. With `'abort'`, a run stops after its last reader disconnected, unless one comes back in time.
 */
export class Readers {
  readonly #options: ReadersOptions
  readonly #stop: (reason: string) => void
  #count = 0

  constructor(options: ReadersOptions, stop: (reason: string) => void) {
    this.#options = options
    this.#stop = stop
  }

  get count(): number {
    return this.#count
  }

  join(): void {
    this.#count++
  }

  leave(): void {
    this.#count--
    const { onDisconnect, abortAfter, clock } = this.#options
    if (onDisconnect !== 'abort' || this.#count > 0) return
    const abort = () => {
      if (this.#count === 0) this.#stop('its last reader disconnected')
    }
    if (abortAfter === 0) abort()
    else clock.after(abortAfter, abort, { idle: true })
  }
}

/** The result of a run as clients receive it. */
export interface Answer {
  sessionId: string
  turnId: string
  status: string
  text: string
  usage: Usage
  reason?: unknown
  code?: unknown
  retryAfter?: unknown
  /** Of the last model call. */
  finishReason?: FinishReason | undefined
  pending: readonly PendingCall[]
  resumes?: unknown
}

/**
 * Waits for the answer of a run as one of its readers. The reader leaves when `signal` aborts. @throws the error that the run failed with
 */
export async function awaitAnswer(run: RunHandle, signal: AbortSignal): Promise<Answer> {
  let joined = true
  const leave = () => {
    if (joined) run.readers.leave()
    joined = false
  }
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await run.answer()
  } finally {
    signal.removeEventListener('abort', leave)
    leave()
  }
}

/** Parses an answer as JSON, also inside a code fence, as models like to write it. Returns undefined if it is not JSON. */
export function parseJsonAnswer(text: string): unknown {
  const trimmed = text.trim()
  const isFenced = trimmed.startsWith('```') && trimmed.endsWith('```')
  try {
    return JSON.parse(isFenced ? trimmed.slice(trimmed.indexOf('\n') + 1, -3) : trimmed)
  } catch {
    return undefined
  }
}
