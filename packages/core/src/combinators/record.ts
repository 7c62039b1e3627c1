import { isBlockError } from '../errors/block-error.ts'
import type { Observers } from '../events/observers.ts'
import { copyMessage } from '../messages/copy-message.ts'
import { cloneJson } from '../messages/json.ts'
import type { Frame } from '../onion/next.ts'
import { AgentView } from '../rings/agent/context.ts'
import { ModelCall } from '../rings/model/model-call.ts'
import { ToolCall } from '../rings/tool/tool-call.ts'
import { TurnScope } from '../rings/turn/turn-scope.ts'
import type { AnyContext } from './combine.ts'

// What combinators read of the record behind a context, beyond what layers may. A context of another make has none.

/** Whether an error ends the run or this call, and so is no failure of the layer that it passes. */
export function isEnding(ctx: AnyContext, error: unknown): boolean {
  if (isBlockError(error) || (error as { name?: unknown } | null | undefined)?.name === 'AbortError') return true
  return frameOf(ctx)?.passage.ending() !== undefined
}

/** The agent's observers. */
export function observersOf(ctx: AnyContext): Observers | undefined {
  // biome-ignore lint/complexity/useLiteralKeys: protected, so that layers do not see it
  return ctx instanceof AgentView ? ctx['$agent'].observers : undefined
}

/** The arguments of a tool call as a copy; `ctx.args` would mark them as looked at, and have them checked again. */
export function argsOf(ctx: AnyContext): Record<string, unknown> {
  const call = frameOf(ctx)?.passage
  return cloneJson(call instanceof ToolCall ? call.fields.args : (ctx.args ?? {}))
}

/** Notes what a layer may change before its next(); calling what it gives sets that back, with the transforms that the layer asked for. State, and what was denied, stays: as in a new attempt. */
export function remember(ctx: AnyContext): () => void {
  const frame = frameOf(ctx)
  if (frame === undefined) return () => {}
  const back = fieldsOf(frame)
  return () => {
    frame.own = undefined
    back()
  }
}

function fieldsOf({ passage }: Frame): () => void {
  if (passage instanceof ModelCall) {
    const { now } = passage.fields
    return () => passage.fields.set(now)
  }
  if (passage instanceof ToolCall) {
    const { fields, invalid, approved } = passage
    return () => void Object.assign(passage, { fields, invalid, approved })
  }
  return passage instanceof TurnScope ? fieldsOfTurn(passage) : () => {}
}

function fieldsOfTurn(turn: TurnScope): () => void {
  const { input, working } = turn
  const { items } = turn.session.history
  return () => {
    turn.input = input
    if (turn.working === working) return
    turn.messages = working === items ? items.map(copyMessage).concat(input) : (working as typeof turn.messages)
  }
}

function frameOf(ctx: AnyContext): Frame | undefined {
  // biome-ignore lint/complexity/useLiteralKeys: protected, so that layers do not see it
  return ctx instanceof AgentView ? ctx['$frame'] : undefined
}
