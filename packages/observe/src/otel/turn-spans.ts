import { type RunEnd, type TurnView, tenantOf } from '@allium/core'
import { callerOf, isReplaying } from '@allium/core/context'
import type { CostOf } from '@allium/shared/prices'
import { type Attributes, type Context, context, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api'
import { ignoreErrors } from '../ignore-errors.ts'
import { modelValues, settingValues, usageValues } from './call-values.ts'
import { alliumNames, attributesOf, type Values } from './conventions.ts'
import type { EventLogger } from './event-logger.ts'
import type { AttributeKey, Conventions, SpanKey } from './names.ts'
import { setSpanError } from './span-error.ts'

/** A span that has not ended, and the context for everything inside it. */
export interface OpenSpan {
  readonly span: Span
  readonly context: Context
}

/** A running turn: its span, and the spans of its running tools by call. If an abandoned call is repeated, the newer one counts. */
export interface OpenTurn extends OpenSpan {
  readonly tools: Map<string, OpenSpan>
  /** The turn of the agent that runs this one as a sub-agent. */
  readonly caller: OpenTurn | undefined
  readonly identity: Values
  /** The session of the outermost agent. */
  readonly conversation: string
  /** What its model calls tell of the turn. */
  values: Values
  /** USD, with sub-agents; NaN once a price is unknown. */
  cost: number
}

/** What a span is about. Its name is the operation and the subject. */
export interface SpanStart {
  readonly span: SpanKey
  readonly operation: string
  readonly subject: string
  readonly kind: SpanKind
  readonly values: Values
  readonly attributes?: Attributes
}

export interface SpanSettings {
  readonly tracer: Tracer
  readonly conventions: Conventions
  /** Whether content is recorded. */
  readonly content: boolean
  readonly toolDefinitions: boolean
  /** Whether each span has the user and the session. */
  readonly identity: boolean
  readonly costOf: CostOf | undefined
  readonly costName: string
  readonly eventLogger: EventLogger | undefined
  /** Returns the application's attributes for every span. */
  readonly attributes: ((ctx: TurnView) => Attributes) | undefined
}

/**
 * Starts spans, and keeps those of the running turns. Calls find their turn without AsyncLocalStorage, because a turn and its calls share
 * one scratch record.
 */
export class TurnSpans {
  readonly settings: SpanSettings
  readonly #turns = new WeakMap<object, OpenTurn>()

  constructor(settings: SpanSettings) {
    this.settings = settings
  }

  /** Returns the turn, and begins its span if none has begun: that of a sub-agent that inherits the layer begins with its first call. */
  of(ctx: TurnView): OpenTurn {
    return this.#turns.get(ctx.metadata) ?? this.#begin(ctx)
  }

  /** Starts the span of a call, inside the span of its turn. */
  startCall(ctx: TurnView, start: SpanStart): OpenSpan {
    const turn = this.of(ctx)
    return this.#start(ctx, start, parentIn(turn), turn.identity)
  }

  /** Sets the attributes that a span may have. */
  set({ span }: OpenSpan, key: SpanKey, values: Values): void {
    const { conventions } = this.settings
    span.setAttributes(attributesOf(conventions, conventions.spans[key], values))
  }

  /** Starts the span of a turn, which ends with the turn. That of a sub-agent is inside the tool call that runs it. */
  #begin(ctx: TurnView): OpenTurn {
    const call = callerOf(ctx)
    const caller = call && this.#turns.get(call.metadata)
    const parent = caller && parentIn(caller.tools.get(call?.callId ?? '') ?? caller)
    const identity = this.settings.identity ? (caller?.identity ?? identityOf(ctx)) : {}
    const conversation = caller?.conversation ?? ctx.sessionId
    const open = this.#start(ctx, turnStart(ctx, conversation), parent ?? context.active(), identity)
    const turn: OpenTurn = { ...open, tools: new Map(), caller, identity, conversation, values: {}, cost: 0 }
    this.#turns.set(ctx.metadata, turn)
    ctx.onEnd((end) => ignoreErrors(() => this.#end(turn, end, replayAttributes(ctx))))
    return turn
  }

  #start(ctx: TurnView, start: SpanStart, parent: Context, identity: Values): OpenSpan {
    const { tracer, conventions } = this.settings
    const { operation, subject, kind } = start
    const attributes = {
      ...attributesOf(conventions, conventions.spans[start.span], { operation, ...start.values }),
      ...attributesOf(conventions, identityKeys, identity),
      ...start.attributes,
      ...ignoreErrors(() => this.settings.attributes?.(ctx)),
    }
    const span = tracer.startSpan(`${operation} ${subject}`, { kind, attributes }, parent)
    return { span, context: trace.setSpan(parent, span) }
  }

  #end(turn: OpenTurn, { status, usage, error }: RunEnd, extraAttributes: Attributes): void {
    const { costOf, costName } = this.settings
    this.set(turn, 'turn', { ...turn.values, ...usageValues(usage) })
    turn.span.setAttributes({
      [alliumNames.status]: status,
      ...(usage.estimated === true && { [alliumNames.estimated]: true }),
      ...(costOf !== undefined && !Number.isNaN(turn.cost) && { [costName]: turn.cost }),
      ...extraAttributes,
    })
    if (status === 'failed') setSpanError(turn.span, error, this.settings)
    turn.span.end()
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

const identityKeys: readonly AttributeKey[] = ['user', 'session']

function identityOf({ sessionKey, sessionId }: TurnView): Values {
  return { user: sessionKey.owner || undefined, session: sessionId }
}

function turnStart({ agent, plan, turnId, principal }: TurnView, conversation: string): SpanStart {
  const tenant = tenantOf(principal)
  return {
    span: 'turn',
    operation: 'invoke_agent',
    subject: agent.name,
    kind: SpanKind.INTERNAL,
    values: {
      agent: agent.name,
      conversation,
      ...modelValues(plan.model),
      ...settingValues(plan.settings),
    },
    attributes: {
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
