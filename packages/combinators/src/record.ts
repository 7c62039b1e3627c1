import type { Observers, Turn } from '@allium/core'
import {
  AgentAttempt,
  cloneJson,
  copyMessage,
  isBlockError,
  ModelAttempt,
  SessionAttempt,
  ToolAttempt,
  TurnAttempt,
} from '@allium/core'
import type { AnyContext } from './combine.ts'

// What combinators read of the attempt behind a context, beyond what layers may. A context of another make has none.

/** Whether an error ends the run or this call, and so is no failure of the layer that it passes. */
export function isEnding(ctx: AnyContext, error: unknown): boolean {
  if (isBlockError(error) || (error as { name?: unknown } | null | undefined)?.name === 'AbortError') return true
  return ctx instanceof AgentAttempt && ctx.$call.end !== undefined
}

/** The agent's observers. */
export function observersOf(ctx: AnyContext): Observers | undefined {
  return ctx instanceof AgentAttempt ? ctx.$agent.observers : undefined
}

/** What stands for the session that a layer belongs to. */
export function sessionOf(ctx: AnyContext): object | undefined {
  return ctx instanceof SessionAttempt ? ctx.$owner : undefined
}

/** The arguments of a tool call as a copy; `ctx.args` would mark them as looked at, and have them checked again. */
export function argsOf(ctx: AnyContext): Record<string, unknown> {
  return cloneJson(ctx instanceof ToolAttempt ? ctx.$fields.args : (ctx.args ?? {}))
}

/** Notes what a layer may change before its next(); calling what it gives sets that back, with the transforms that the layer asked for. State, and what was denied, stays: as in a new attempt. */
export function remember(ctx: AnyContext): () => void {
  if (!(ctx instanceof AgentAttempt)) return () => {}
  const back = fieldsOf(ctx)
  return () => {
    ctx.$transforms = undefined
    back()
  }
}

function fieldsOf(ctx: AgentAttempt): () => void {
  if (ctx instanceof ModelAttempt) {
    const { $fields } = ctx
    ctx.$own = 0
    return () => Object.assign(ctx, { $fields, $own: 0, $skip: undefined })
  }
  if (ctx instanceof ToolAttempt) {
    const { $fields } = ctx
    return () => Object.assign(ctx, { $fields, $own: false, $skip: undefined })
  }
  return ctx instanceof TurnAttempt ? fieldsOfTurn(ctx.$turn) : () => {}
}

function fieldsOfTurn(turn: Turn): () => void {
  const { input, working } = turn
  const { items } = turn.session.history
  return () => {
    turn.input = input
    if (turn.working === working) return
    turn.messages = working === items ? items.map(copyMessage).concat(input) : (working as typeof turn.messages)
  }
}
