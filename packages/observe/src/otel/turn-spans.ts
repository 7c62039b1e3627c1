import { type RunEnd, type TurnView, tenantOf } from '@allium/core'
import { isReplaying, rootTurnIdOf } from '@allium/core/context'
import { type Attributes, type Context, context, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api'
import { ignoreErrors } from '../ignore-errors.ts'
import { usageAttributes } from './call-attributes.ts'
import { modelAttributes } from './model-attributes.ts'
import { alliumNames, names } from './names.ts'
import { setSpanError } from './span-error.ts'

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

/** What a span is about. Its name is the operation and the subject. */
export interface SpanStart {
  readonly operation: string
  readonly subject: string
  readonly kind: SpanKind
  readonly attributes: Attributes
}

export interface SpanSettings {
  readonly tracer: Tracer
  /** Whether content is recorded. */
  readonly content: boolean
  /** Returns the application's attributes for every span. */
  readonly attributes: ((ctx: TurnView) => Attributes) | undefined
}

/**
 * Starts spans, and keeps those of the running turns. Calls find their turn without AsyncLocalStorage, because a turn and its calls share
 * one scratch record.
 */
export class TurnSpans {
  readonly #settings: SpanSettings
  readonly #byRecord = new WeakMap<object, OpenTurn>()
  readonly #byRoot = new Map<string, OpenTurn>()

  constructor(settings: SpanSettings) {
    this.#settings = settings
  }

  /** Whether content is recorded. */
  get content(): boolean {
    return this.#settings.content
  }

  /** Starts the span of a turn, which ends with the turn. */
  begin(ctx: TurnView, parent: Context = context.active()): OpenTurn {
    const turn = { ...this.#start(ctx, turnStart(ctx), parent), tools: new Map<string, OpenTool>() }
    const root = rootTurnIdOf(ctx)
    this.#byRecord.set(ctx.metadata, turn)
    if (!this.#byRoot.has(root)) this.#byRoot.set(root, turn)
    ctx.onEnd((end) => {
      if (this.#byRoot.get(root) === turn) this.#byRoot.delete(root)
      ignoreErrors(() => this.#end(turn, end, replayAttributes(ctx)))
    })
    return turn
  }

  /** Returns the turn of a call. A sub-agent that inherits the layer has none until its first call begins it. */
  of(ctx: TurnView): OpenTurn {
    return this.#byRecord.get(ctx.metadata) ?? this.#beginInherited(ctx)
  }

  /** Starts the span of a call, inside the span of its turn. */
  startCall(ctx: TurnView, start: SpanStart): OpenSpan {
    return this.#start(ctx, start, parentIn(this.of(ctx)))
  }

  #start(ctx: TurnView, { operation, subject, kind, attributes }: SpanStart, parent: Context): OpenSpan {
    const { tracer } = this.#settings
    const extraAttributes = ignoreErrors(() => this.#settings.attributes?.(ctx))
    const spanOptions = { kind, attributes: { [names.operation]: operation, ...attributes, ...extraAttributes } }
    const span = tracer.startSpan(`${operation} ${subject}`, spanOptions, parent)
    return { span, context: trace.setSpan(parent, span) }
  }

  #end({ span }: OpenTurn, { status, usage, error }: RunEnd, extraAttributes: Attributes): void {
    span.setAttributes({ [alliumNames.status]: status, ...usageAttributes(usage), ...extraAttributes })
    if (status === 'failed') setSpanError(span, error, this.content)
    span.end()
  }

  /**
   * Begins the turn of a sub-agent that inherits the layer. A context manager knows its parent. Without one it is the running tool, or the
   * turn if several tools are running.
   */
  #beginInherited(ctx: TurnView): OpenTurn {
    const root = this.#byRoot.get(rootTurnIdOf(ctx))
    if (root === undefined) return this.begin(ctx)
    const { open, tool } = innermost(root)
    const turn = this.begin(ctx, parentIn(open))
    if (tool !== undefined) {
      tool.inner = turn
      ctx.onEnd(() => {
        if (tool.inner === turn) delete tool.inner
      })
    }
    return turn
  }
}

/** Runs next() with the span active, for instrumented code of the application. */
export function runInSpan<R>(open: OpenSpan | undefined, next: () => Promise<R>): Promise<R> {
  return open === undefined ? next() : context.with(open.context, () => next())
}

/** Marks a span that an earlier process has already recorded. */
export function replayAttributes(ctx: TurnView): Attributes {
  return isReplaying(ctx) ? { [alliumNames.replayed]: true } : {}
}

function turnStart({ agent, plan, sessionId, turnId, principal }: TurnView): SpanStart {
  const tenant = tenantOf(principal)
  return {
    operation: 'invoke_agent',
    subject: agent.name,
    kind: SpanKind.INTERNAL,
    attributes: {
      [names.agent]: agent.name,
      ...modelAttributes(plan.model),
      [names.conversation]: sessionId,
      [alliumNames.turn]: turnId,
      ...(tenant !== undefined && { [alliumNames.tenant]: tenant }),
    },
  }
}

/** Returns the context of the enclosing span. Uses the active context if it belongs to the same trace, because it may be nearer. */
function parentIn(open: OpenSpan): Context {
  const active = context.active()
  const span = trace.getSpan(active)
  return span?.spanContext().traceId === open.span.spanContext().traceId ? active : open.context
}

function innermost(turn: OpenTurn): { open: OpenSpan; tool: OpenTool | undefined } {
  const [tool, otherTool] = turn.tools.values()
  if (tool === undefined || otherTool !== undefined) return { open: turn, tool: undefined }
  return tool.inner === undefined ? { open: tool, tool } : innermost(tool.inner)
}
