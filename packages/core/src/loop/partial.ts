import type { TurnScope } from '../scopes/turn-scope.ts'
import type { RunResult } from './run-result.ts'

/** What there was when a run ended before its time; on its error as `partial`. */
export type Partial = Pick<RunResult, 'text' | 'usage' | 'messages'>

export function partialOf({ answer, session, usage }: TurnScope): Partial {
  const text = answer.unfinished || (answer.output ?? answer.outlet.shown)
  return { text, usage: { ...usage }, messages: session.history.since(session.history.changedFrom) }
}

/** Puts what there was on the error that the run rejects with. */
export function withPartial(error: unknown, turn: TurnScope): unknown {
  if (typeof error === 'object' && error !== null && Object.isExtensible(error))
    Object.defineProperty(error, 'partial', { value: partialOf(turn), writable: true, configurable: true })
  return error
}
