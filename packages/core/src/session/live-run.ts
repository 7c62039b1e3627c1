import { toAbortError } from '../errors/abort-error.ts'
import { AlliumError, isAlliumError } from '../errors/allium-error.ts'
import { cleanMessageOf, fieldOf } from '../errors/describe.ts'
import { silence } from '../errors/thenable.ts'
import { jsonSafe } from '../messages/json-safe.ts'
import { noUsage } from '../messages/usage.ts'
import type { Clock } from '../ports/clock.ts'
import { followSignal } from '../ports/follow-signal.ts'
import { EventQueue } from '../stream/event-queue.ts'
import type { Steer } from '../turn/inputs.ts'
import { type Partial, partialOf, type RunResult } from '../turn/run-result.ts'
import type { Turn } from '../turn/turn.ts'
import type { AbortableWaits } from './abortable-waits.ts'
import type { SessionScope } from './scope/session-scope.ts'

/** The outcome of a run. */
export interface Settled {
  readonly error?: unknown
  readonly result?: RunResult
}

/** The state of a run, for its AgentRun: its events, its turn while that runs, and its result. */
export class LiveRun {
  readonly events: EventQueue
  /** Its index among the agent's runs. */
  position = 0
  turn: Turn | undefined
  settled = false
  /** Whether the run is awaited or its events are read. */
  isObserved = false
  /** Whether it failed and a retry would repeat something: chunks of an answer or a tool call. */
  begun = false
  /** Its idempotency key, if this process remembers it by that. */
  key: string | undefined
  result: Promise<RunResult> | undefined
  /** Called when the run is first in the queue of its session. */
  front: (() => void) | undefined
  /** Its waits before the turn starts, if there are any. */
  waits: AbortableWaits | undefined
  #aborted: Error | undefined
  #release: (() => void) | undefined
  #partial: Partial | undefined
  #result: RunResult | undefined
  #steers: Steer[] | undefined

  constructor(clock: Clock, readerTimeout: number | false) {
    this.events = new EventQueue(clock, readerTimeout)
  }

  get partial(): Partial {
    this.#partial ??= this.#result && partialResult(this.#result)
    if (this.#partial !== undefined) return this.#partial
    return this.turn === undefined ? { text: '', usage: noUsage(), messages: [] } : partialOf(this.turn)
  }

  /** Starts the turn. An abort from before takes effect at once. */
  begin(turn: Turn): void {
    this.turn = turn
    if (this.#aborted !== undefined) turn.lifecycle.terminate('aborted', this.#aborted)
    for (const steer of this.#steers ?? []) turn.steer(steer)
    this.#steers = undefined
  }

  /** Delivers a message to the turn, or buffers it until the turn starts. */
  steer(steer: Steer): void {
    if (this.settled)
      return steer.fail(new AlliumError('run.not_running', 'The run has ended. Send the message with session.run().'))
    if (this.turn !== undefined) return this.turn.steer(steer)
    this.#steers ??= []
    this.#steers.push(steer)
  }

  abort(reason: unknown): void {
    if (this.settled) return
    const error = toAbortError(reason)
    if (this.turn !== undefined) return this.turn.lifecycle.terminate('aborted', error)
    this.#aborted ??= error
    this.waits?.cancel.abort(this.#aborted)
  }
  /** Aborts the run when the signal aborts, until the run settles. @throws AbortError if it has been aborted */
  follow(signal: AbortSignal | undefined): void {
    if (signal !== undefined) this.#release = followSignal(signal, (reason) => this.abort(reason))
    if (this.#aborted !== undefined) throw this.#aborted
  }

  /**
   * Ends the stream and frees the session. Silences a rejection that is not awaited.
   * Drops all references to the session, so that a retained run does not keep the conversation in memory.
   */
  settle(end: Settled): void {
    this.settled = true
    this.#release?.()
    this.waits = this.front = undefined
    for (const { settle } of this.#steers ?? []) settle({ delivered: false, reason: 'The turn did not begin.' })
    this.#result = end.result
    if ('error' in end) this.#failed(end.error)
    this.turn = undefined
    this.events.finish(end)
  }

  #failed(error: unknown): void {
    this.#partial = (fieldOf(error, 'partial') as Partial | undefined) ?? this.partial
    const { usage, text } = this.#partial
    this.begun = this.events.begun || text !== '' || usage.outputTokens > 0 || (this.turn?.toolCalls.length ?? 0) > 0
    queueMicrotask(() => silence(this.result))
  }
}

function partialResult({ text, usage, messages, turnId, sessionId }: RunResult): Partial {
  return jsonSafe({ text, usage, messages, turnId, sessionId })
}

/**
 * Logs a failed run if it is not awaited or read by the next macrotask, like Node does for promises. The error and its
 * cause may contain secrets, so only their class, code and cleaned message are logged, never a stack.
 */
export function reportUnhandled(run: LiveRun, error: unknown, { id, agent }: SessionScope): void {
  if (run.isObserved || fieldOf(error, 'name') === 'AbortError') return
  const { turnId } = run.partial
  setTimeout(() => {
    if (run.isObserved) return
    const what = kindOf(error)
    const cause = error instanceof Error ? fieldOf(error, 'cause') : undefined
    agent.setup.logger.error(
      `A run of the session "${id}" failed (${what}), and nobody awaits it. Await it, or listen with agent.on('error').`,
      {
        sessionId: id,
        ...(turnId !== undefined && { turnId }),
        failure: what,
        message: cleanMessageOf(error),
        ...(cause !== undefined && { cause: `${kindOf(cause)}: ${cleanMessageOf(cause)}` }),
      },
    )
  }, 0)
}

function kindOf(error: unknown): string {
  if (isAlliumError(error)) return error.code
  return error instanceof Error ? String(fieldOf(error, 'name') ?? 'Error') : typeof error
}
