import { toAbortError } from '../errors/abort-error.ts'
import { noUsage } from '../messages/usage.ts'
import { silence } from '../onion/thenable.ts'
import { type Partial, partialOf } from '../rings/turn/partial.ts'
import type { RunResult } from '../rings/turn/run-result.ts'
import type { Turn } from '../rings/turn/turn.ts'
import { EventQueue } from './event-queue.ts'

/** A run behind its AgentRun: its events, its turn once that began, its result. */
export class LiveRun {
  readonly events = new EventQueue()
  turn: Turn | undefined
  settled = false
  result: Promise<RunResult> | undefined
  #aborted: { reason: unknown } | undefined

  get partial(): Partial {
    return this.turn === undefined ? { text: '', usage: noUsage(), messages: [] } : partialOf(this.turn)
  }

  /** The turn begins; an abort that came before meets it at once. */
  begin(turn: Turn): void {
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
