import { jsonSafe } from '../messages/json-safe.ts'
import type { Turn } from '../rings/turn/turn.ts'
import type { RunResult } from './run-result.ts'

/** The state of a run that ended early. Set as `partial` on its error. */
export interface Partial extends Pick<RunResult, 'text' | 'usage' | 'messages'> {
  /** Undefined if the turn had not started. */
  turnId?: string
  sessionId?: string
}

export function partialOf({ answer, session, turnId, usage }: Turn): Partial {
  const messages = session.history.since(session.history.changedFrom)
  return jsonSafe({ text: answer.partial, usage: { ...usage }, messages, turnId, sessionId: session.id })
}

/** Sets `partial` on the error that the run rejects with, if the error is extensible. */
export function withPartial(error: unknown, partial: Partial): unknown {
  if (typeof error === 'object' && error !== null)
    Reflect.defineProperty(error, 'partial', { value: partial, writable: true, configurable: true })
  return error
}
