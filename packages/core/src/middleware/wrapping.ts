import { AgentAttempt, attemptOf } from '../agent/scope/context.ts'
import type { CustomEvent } from '../events/events.ts'
import { copyMessage } from '../messages/json.ts'
import { ModelAttempt } from '../model/scope/context.ts'
import { ToolAttempt } from '../tool/scope/context.ts'
import { TurnAttempt } from '../turn/context.ts'
import type { Turn } from '../turn/turn.ts'

// Helpers for layers that wrap another layer. They do nothing for an object that is not a layer's context.

/** Whether the run has ended by an abort, a block or a sticky failure, so that every layer only unwinds. */
export function hasEnded(ctx: object): boolean {
  return attemptOf<AgentAttempt>(ctx, AgentAttempt)?.$call.end !== undefined
}

/** Emits an event to observers only, not to the run's stream. */
export function tellObservers(ctx: object, event: CustomEvent): void {
  attemptOf<AgentAttempt>(ctx, AgentAttempt)?.$agent.observers.emit(event.type, event)
}

/**
 * Saves the fields of a layer's attempt before its next(). The returned function discards the changes since, the
 * transforms and the skip. As in a new attempt, state writes and a denial stay.
 */
export function noteFields(ctx: object): () => void {
  const attempt = attemptOf<AgentAttempt>(ctx, AgentAttempt)
  if (attempt === undefined) return () => {}
  const back = fieldsOf(attempt)
  return () => {
    attempt.$transforms = undefined
    back()
  }
}

/** Fields are copied on write. Later writes create new ones, so the saved ones do not change. */
function fieldsOf(ctx: AgentAttempt): () => void {
  if (ctx instanceof ModelAttempt || ctx instanceof ToolAttempt) {
    const unowned = ctx instanceof ModelAttempt ? { $own: 0 } : { $own: false }
    const { $fields } = Object.assign(ctx, unowned)
    return () => Object.assign(ctx, { $fields, ...unowned, $skip: undefined })
  }
  return ctx instanceof TurnAttempt ? fieldsOfTurn(ctx.$turn) : () => {}
}

/** A turn has a single attempt, so it owns its fields. */
function fieldsOfTurn({ view, session }: Turn): () => void {
  const { input, working } = view
  const { items } = session.history
  return () => {
    view.input = input
    if (view.working === working) return
    view.messages = working === items ? items.map(copyMessage).concat(input) : (working as typeof view.messages)
  }
}
