import type { CustomEvent } from '../events/events.ts'
import { copyMessage } from '../messages/copy-message.ts'
import { AgentAttempt } from './agent/context.ts'
import { ModelAttempt } from './model/context.ts'
import { ToolAttempt } from './tool/context.ts'
import { TurnAttempt } from './turn/context.ts'
import type { Turn } from './turn/turn.ts'

// For layers that stand around another one. What is no context of a layer has none of this.

/** Whether the run has ended (by an abort, a block, a failure that sticks), and every layer only unwinds. */
export function hasEnded(ctx: object): boolean {
  return ctx instanceof AgentAttempt && ctx.$call.end !== undefined
}

/** Tells observers of the event's type, and not the run's stream. */
export function tellObservers(ctx: object, event: CustomEvent): void {
  if (ctx instanceof AgentAttempt) ctx.$agent.observers.emit(event.type, event)
}

/**
 * Notes the fields of a layer's attempt before its next(). Calling what it gives drops what was changed since, with the
 * transforms and the skip that the layer asked for: as in a new attempt, what it said (state, a deny) stays.
 */
export function noteFields(ctx: object): () => void {
  if (!(ctx instanceof AgentAttempt)) return () => {}
  const back = fieldsOf(ctx)
  return () => {
    ctx.$transforms = undefined
    back()
  }
}

/** Fields are copied on write: from here on a write makes new ones, and the noted stay as they are. */
function fieldsOf(ctx: AgentAttempt): () => void {
  if (ctx instanceof ModelAttempt) {
    const { $fields } = ctx
    ctx.$own = 0
    return () => Object.assign(ctx, { $fields, $own: 0, $skip: undefined })
  }
  if (ctx instanceof ToolAttempt) {
    const { $fields } = ctx
    ctx.$own = false
    return () => Object.assign(ctx, { $fields, $own: false, $skip: undefined })
  }
  return ctx instanceof TurnAttempt ? fieldsOfTurn(ctx.$turn) : () => {}
}

/** Those of a turn are its own, with one attempt. */
function fieldsOfTurn({ view, session }: Turn): () => void {
  const { input, working } = view
  const { items } = session.history
  return () => {
    view.input = input
    if (view.working === working) return
    view.messages = working === items ? items.map(copyMessage).concat(input) : (working as typeof view.messages)
  }
}
