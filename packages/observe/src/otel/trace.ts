import {
  defineMiddleware,
  layerOptions,
  type ModelContext,
  type ModelResponse,
  messageOf,
  option,
  type RunEnd,
  type ToolContext,
  type ToolResult,
  type TurnView,
  type TypedMiddleware,
  tenantOf,
} from '@allium/core'
import { isReplaying, physicalCallsOf } from '@allium/core/context'
import { usageOf } from '@allium/core/internal'
import {
  type Attributes,
  trace as api,
  type Context,
  context,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api'
import { errorType } from '../error-type.ts'
import { decisionOfError } from '../failure.ts'
import { ignoreErrors } from '../ignore-errors.ts'
import { knownTool } from '../known-tool.ts'
import { firstChunkOf, stopwatch } from '../stopwatch.ts'
import { requestAttributes, responseAttributes, serverAttributes, usageAttributes } from './call-attributes.ts'
import { argumentsContent, inputContent, outputContent, resultContent } from './content.ts'
import { modelAttributes, splitModel } from './model-attributes.ts'
import { alliumNames, names } from './names.ts'
import { type OpenSpan, type OpenTurn, OpenTurns, parentIn } from './spans.ts'

export interface TraceOptions {
  /** @default the tracer that the application registered */
  tracer?: Tracer | undefined
  /** Whether prompts, answers, arguments, results and error messages are recorded. @default false */
  content?: boolean | undefined
  /** Returns additional attributes for every span. @default none */
  attributes?(ctx: TurnView): Attributes
  /** The layer's name. @default 'observe:trace' */
  as?: string | undefined
}

const readOptions = layerOptions<TraceOptions>('observe:trace', {
  tracer: option.object,
  content: option.flag,
  attributes: option.fn,
})

/**
 * Traces turns, model calls and tool calls with OpenTelemetry, by its conventions for generative AI: `invoke_agent`
 * with `chat` and `execute_tool` inside, sub-agents nested.
 *
 * Register it first. It always runs directly around the provider and the tool, so each attempt of a retry has its own span.
 * If the application has a context manager, instrumented code in providers and tools becomes a child of these spans.
 *
 * @example
 * import { trace } from '@allium/observe/otel'
 * agent.use(trace())
 */
export function trace(options: TraceOptions = {}): TypedMiddleware<{}> {
  const {
    tracer = api.getTracer('@allium/observe'),
    content = false,
    attributes,
    as = 'observe:trace',
  } = readOptions(options)
  const turns = new OpenTurns()

  return defineMiddleware({
    name: as,
    // Not `observes`: its turn hook, which runs first, reads no text; its call hooks do.
    order: { is: ['traces', 'records'] },
    innermost: true,
    inherit: true,
    async turn(ctx, next) {
      const turn = ignoreErrors(() => beginTurn(ctx, context.active()))
      await runInSpan(turn, next)
    },
    async model(ctx, next) {
      const call = ignoreErrors(() =>
        startSpan(ctx, 'chat', splitModel(ctx.model).model, SpanKind.CLIENT, modelCall(ctx)),
      )
      const firstChunk = firstChunkOf(ctx, stopwatch(ctx.clock))
      try {
        const response = await runInSpan(call, next)
        ignoreErrors(() => endModelSpan(call, response, firstChunk()))
        return response
      } catch (error) {
        ignoreErrors(() => call && failSpan(call, error))
        throw error
      } finally {
        const calls = ignoreErrors(() => physicalCallsOf(ctx)) ?? []
        ignoreErrors(() => call?.span.setAttributes(usageAttributes(usageOf(calls))))
        ignoreErrors(() =>
          call?.span.setAttributes({ ...serverAttributes(calls.at(-1)), ...replayAttributes(ctx) }).end(),
        )
      }
    },
    async tool(ctx, next) {
      const turn = ignoreErrors(() => turnOf(ctx))
      const call = ignoreErrors(() => startSpan(ctx, 'execute_tool', knownTool(ctx), SpanKind.INTERNAL, toolCall(ctx)))
      if (call !== undefined) turn?.tools.set(ctx.callId, call)
      try {
        const result = await runInSpan(call, next)
        ignoreErrors(() => call && endToolSpan(call, result))
        return result
      } catch (error) {
        ignoreErrors(() => call && failSpan(call, error))
        throw error
      } finally {
        if (turn?.tools.get(ctx.callId) === call) turn?.tools.delete(ctx.callId)
        ignoreErrors(() => call?.span.setAttributes(replayAttributes(ctx)).end())
      }
    },
  })

  function beginTurn(ctx: TurnView, parent: Context): OpenTurn {
    const { agent, plan, sessionId, turnId, principal } = ctx
    const tenant = tenantOf(principal)
    const spanAttributes = {
      [names.agent]: agent.name,
      ...modelAttributes(plan.model),
      [names.conversation]: sessionId,
      [alliumNames.turn]: turnId,
      ...(tenant !== undefined && { [alliumNames.tenant]: tenant }),
    }
    const turn = {
      ...start(ctx, 'invoke_agent', agent.name, SpanKind.INTERNAL, spanAttributes, parent),
      tools: new Map<string, OpenSpan>(),
    }
    turns.startTurn(ctx, turn)
    ctx.onEnd((end) => {
      turns.end(ctx, turn)
      ignoreErrors(() => endTurn(turn, end, replayAttributes(ctx)))
    })
    return turn
  }

  function endTurn({ span }: OpenTurn, { status, usage, error }: RunEnd, extraAttributes: Attributes): void {
    span.setAttributes({ [alliumNames.status]: status, ...usageAttributes(usage), ...extraAttributes })
    if (status === 'failed') setSpanError({ span }, error)
    span.end()
  }

  /** Returns the turn of a call. A sub-agent that inherits the layer has none until its first call begins it. */
  function turnOf(ctx: TurnView): OpenTurn {
    const openTurn = turns.of(ctx)
    if (openTurn !== undefined) return openTurn
    const parentSpan = turns.parentOf(ctx)
    const turn = beginTurn(ctx, parentSpan?.parent ?? context.active())
    const { tool } = parentSpan ?? {}
    if (tool !== undefined) {
      tool.inner = turn
      ctx.onEnd(() => {
        if (tool.inner === turn) delete tool.inner
      })
    }
    return turn
  }

  function startSpan(
    ctx: TurnView,
    operation: string,
    subject: string,
    kind: SpanKind,
    spanAttributes: Attributes,
  ): OpenSpan {
    return start(ctx, operation, subject, kind, spanAttributes, parentIn(turnOf(ctx)))
  }

  function start(
    ctx: TurnView,
    operation: string,
    subject: string,
    kind: SpanKind,
    spanAttributes: Attributes,
    parent: Context,
  ): OpenSpan {
    const extraAttributes = ignoreErrors(() => attributes?.(ctx))
    const spanOptions = { kind, attributes: { [names.operation]: operation, ...spanAttributes, ...extraAttributes } }
    const span = tracer.startSpan(`${operation} ${subject}`, spanOptions, parent)
    return { span, context: api.setSpan(parent, span) }
  }

  function modelCall(ctx: ModelContext): Attributes {
    const contentAttributes = content ? inputContent(ctx.request.messages) : {}
    return {
      ...modelAttributes(ctx.model),
      [names.conversation]: ctx.sessionId,
      ...requestAttributes(ctx),
      ...contentAttributes,
    }
  }

  function toolCall(ctx: ToolContext): Attributes {
    return {
      [names.toolName]: knownTool(ctx),
      [names.toolType]: 'function',
      [names.toolCallId]: ctx.callId,
      ...(ctx.tool.description !== '' && { [names.toolDescription]: ctx.tool.description }),
      ...(content && argumentsContent(ctx)),
    }
  }

  function endModelSpan(call: OpenSpan | undefined, response: ModelResponse, firstChunk: number | undefined): void {
    const firstChunkAttributes = firstChunk !== undefined && { [names.firstChunk]: firstChunk / 1000 }
    const contentAttributes = content && outputContent(response)
    call?.span.setAttributes({ ...responseAttributes(response), ...firstChunkAttributes, ...contentAttributes })
  }

  function endToolSpan(call: OpenSpan, result: ToolResult): void {
    call.span.setAttribute(alliumNames.status, result.status)
    if (content) call.span.setAttributes(resultContent(result))
    if (result.status === 'error') setSpanError(call, result.error, 'tool_error')
  }

  /** An abort or a block is an outcome of a call, not an error. */
  function failSpan(call: OpenSpan, error: unknown): void {
    const status = decisionOfError(error)
    call.span.setAttribute(alliumNames.status, status)
    if (status === 'failed') setSpanError(call, error)
  }

  function setSpanError({ span }: Pick<OpenSpan, 'span'>, error: unknown, defaultType?: string): void {
    const hasError = error !== undefined || defaultType === undefined
    span.setAttribute(names.errorType, hasError ? errorType(error) : defaultType)
    const message = content && hasError ? messageOf(error) : undefined
    span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) })
  }

  /** Runs next() with the span active, for instrumented code of the application. */
  function runInSpan<R>(open: OpenSpan | undefined, next: () => Promise<R>): Promise<R> {
    return open === undefined ? next() : context.with(open.context, () => next())
  }
}

/** Marks a span that an earlier process has already recorded. */
function replayAttributes(ctx: TurnView): Attributes {
  return isReplaying(ctx) ? { [alliumNames.replayed]: true } : {}
}
