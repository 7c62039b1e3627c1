import { jsonSafe } from '../messages/json-safe.ts'
import type { Turn } from '../rings/turn/turn.ts'
import type { RunResult } from './run-result.ts'

/** What there was when a run ended before its time; on its error as `partial`. */
export interface Partial extends Pick<RunResult, 'text' | 'usage' | 'messages'> {
  /** Which run it was; absent before its turn began. */
  turnId?: string
  sessionId?: string
}

export function partialOf({ answer, session, turnId, usage }: Turn): Partial {
  const messages = session.history.since(session.history.changedFrom)
  return jsonSafe({ text: answer.partial, usage: { ...usage }, messages, turnId, sessionId: session.id })
}

/** Puts what there was on the error that the run rejects with, if that takes a field. */
export function withPartial(error: unknown, partial: Partial): unknown {
  if (typeof error === 'object' && error !== null)
    Reflect.defineProperty(error, 'partial', { value: partial, writable: true, configurable: true })
  return error
}
