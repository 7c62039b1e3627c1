import { silence } from '../compose/thenable.ts'
import { toAbortError } from '../errors/abort-error.ts'
import { type Partial, partialOf } from '../loop/partial.ts'
import type { RunResult } from '../loop/run-result.ts'
import { noUsage } from '../messages/usage.ts'
import type { TurnScope } from '../scopes/turn-scope.ts'
import type { Clock } from '../seams/clock.ts'
import { EventQueue } from './event-queue.ts'

/** A run behind its AgentRun: its events, its turn once that began, its result. */
export class LiveRun {
  readonly events: EventQueue
  turn: TurnScope | undefined
  settled = false
  result: Promise<RunResult> | undefined
  #aborted: { reason: unknown } | undefined

  constructor(clock: Clock, readerSilence: number | false) {
    this.events = new EventQueue(clock, readerSilence)
  }

  get partial(): Partial {
    return this.turn === undefined ? { text: '', usage: noUsage(), messages: [] } : partialOf(this.turn)
  }

  /** The turn begins; an abort that came before meets it at once. */
  begin(turn: TurnScope): void {
    this.turn = turn
    if (this.#aborted !== undefined) turn.cut('aborted', toAbortError(this.#aborted.reason))
  }

  abort(reason: unknown): void {
    if (this.turn === undefined) this.#aborted ??= { reason }
    else if (!this.settled) this.turn.cut('aborted', toAbortError(reason))
  }

  /** The stream ends and the session is free. A failure that nobody awaits is not left unhandled. */
  settle(end: { error?: unknown }): void {
    this.settled = true
    this.events.finish(end)
    if ('error' in end) queueMicrotask(() => silence(this.result))
  }
}
