import type { TurnView } from '@allium/core'
import { rootTurnIdOf } from '@allium/core/context'
import { type Context, context, type Span, trace } from '@opentelemetry/api'

/** A span that has not ended, and the context for everything inside it. */
export interface OpenSpan {
  readonly span: Span
  readonly context: Context
}

/** A running turn: its span, and the spans of its running tools by call. If an abandoned call is repeated, the newer one counts. */
export interface OpenTurn extends OpenSpan {
  readonly tools: Map<string, OpenTool>
}

export interface OpenTool extends OpenSpan {
  /** The sub-agent that runs in this tool. */
  inner?: OpenTurn
}

/** The running turns. Calls find their turn without AsyncLocalStorage, because a turn and its calls share one scratch record. */
export class OpenTurns {
  readonly #byRecord = new WeakMap<object, OpenTurn>()
  readonly #byRoot = new Map<string, OpenTurn>()

  of(ctx: TurnView): OpenTurn | undefined {
    return this.#byRecord.get(ctx.metadata)
  }

  startTurn(ctx: TurnView, turn: OpenTurn): void {
    this.#byRecord.set(ctx.metadata, turn)
    if (!this.#byRoot.has(rootTurnIdOf(ctx))) this.#byRoot.set(rootTurnIdOf(ctx), turn)
  }

  end(ctx: TurnView, turn: OpenTurn): void {
    if (this.#byRoot.get(rootTurnIdOf(ctx)) === turn) this.#byRoot.delete(rootTurnIdOf(ctx))
  }

  /**
   * Returns the parent of a sub-agent that inherits the layer. A context manager knows it. Without one it is the running tool, or the turn
   * if several tools are running.
   */
  parentOf(ctx: TurnView): { parent: Context; tool: OpenTool | undefined } | undefined {
    const turn = this.#byRoot.get(rootTurnIdOf(ctx))
    if (turn === undefined) return undefined
    const { open, tool } = innermost(turn)
    return { parent: parentIn(open), tool }
  }
}

/** Returns the context of the enclosing span. Uses the active context if it belongs to the same trace, because it may be nearer. */
export function parentIn(open: OpenSpan): Context {
  const active = context.active()
  const span = trace.getSpan(active)
  return span?.spanContext().traceId === open.span.spanContext().traceId ? active : open.context
}

function innermost(turn: OpenTurn): { open: OpenSpan; tool: OpenTool | undefined } {
  const [tool, otherTool] = turn.tools.values()
  if (tool === undefined || otherTool !== undefined) return { open: turn, tool: undefined }
  return tool.inner === undefined ? { open: tool, tool } : innermost(tool.inner)
}
