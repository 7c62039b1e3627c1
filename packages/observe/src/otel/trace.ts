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
  type TurnContext,
  type TypedMiddleware,
  tenantOf,
  usageOf,
} from '@allium/core'
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
import { decisionOf } from '../failure.ts'
import { knownTool } from '../known-tool.ts'
import { quietly } from '../quietly.ts'
import { firstChunkOf, stopwatch } from '../stopwatch.ts'
import { requestAttributes, responseAttributes, serverAttributes, usageAttributes } from './call-attributes.ts'
import { argumentsContent, inputContent, outputContent, resultContent } from './content.ts'
import { modelAttributes, splitModel } from './model-attributes.ts'
import { names, ownNames } from './names.ts'
import { type OpenSpan, type OpenTurn, OpenTurns, parentIn } from './spans.ts'

export interface TraceOptions {
  /** @default the one that the application registered */
  tracer?: Tracer | undefined
  /** Whether prompts, answers, arguments, results and error messages are recorded. @default false */
  content?: boolean | undefined
  /** Further attributes of every span. @default none */
  attributes?(ctx: TurnContext): Attributes
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
 * Register it first. It stands right around the provider and the tool, so each attempt of a retry is a span of its own.
 * Where the application has a context manager, what providers and tools do is traced as their child.
 *
 * @example
 * import { trace } from '@allium/observe/otel'
 * agent.use(trace())
 */
export function trace(given: TraceOptions = {}): TypedMiddleware<{}> {
  const {
    tracer = api.getTracer('@allium/observe'),
    content = false,
    attributes,
    as = 'observe:trace',
  } = readOptions(given)
  const turns = new OpenTurns()

  return defineMiddleware({
    name: as,
    // Not `observes`: its turn hook, which stands first, reads no text; its calls do.
    order: { is: ['traces', 'records'] },
    innermost: true,
    inherit: true,
    async turn(ctx, next) {
      const turn = quietly(() => beginTurn(ctx, context.active()))
      await inside(turn, next)
    },
    async model(ctx, next) {
      const call = quietly(() => begin(ctx, 'chat', splitModel(ctx.model).model, SpanKind.CLIENT, modelCall(ctx)))
      const firstChunk = firstChunkOf(ctx, stopwatch(ctx.clock))
      try {
        const response = await inside(call, next)
        quietly(() => answered(call, response, firstChunk()))
        return response
      } catch (error) {
        quietly(() => call && failed(call, error))
        throw error
      } finally {
        quietly(() => call?.span.setAttributes(usageAttributes(usageOf(ctx.physicalCalls))))
        quietly(() => call?.span.setAttributes({ ...serverAttributes(ctx), ...replayed(ctx) }).end())
      }
    },
    async tool(ctx, next) {
      const turn = quietly(() => turnOf(ctx))
      const call = quietly(() => begin(ctx, 'execute_tool', knownTool(ctx), SpanKind.INTERNAL, toolCall(ctx)))
      if (call !== undefined) turn?.tools.set(ctx.callId, call)
      try {
        const result = await inside(call, next)
        quietly(() => call && came(call, result))
        return result
      } catch (error) {
        quietly(() => call && failed(call, error))
        throw error
      } finally {
        if (turn?.tools.get(ctx.callId) === call) turn?.tools.delete(ctx.callId)
        quietly(() => call?.span.setAttributes(replayed(ctx)).end())
      }
    },
  })

  function beginTurn(ctx: TurnContext, parent: Context): OpenTurn {
    const { agent, plan, sessionId, turnId, principal } = ctx
    const tenant = tenantOf(principal)
    const about = {
      [names.agent]: agent.name,
      ...modelAttributes(plan.model),
      [names.conversation]: sessionId,
      [ownNames.turn]: turnId,
      ...(tenant !== undefined && { [ownNames.tenant]: tenant }),
    }
    const turn = {
      ...start(ctx, 'invoke_agent', agent.name, SpanKind.INTERNAL, about, parent),
      tools: new Map<string, OpenSpan>(),
    }
    turns.begin(ctx, turn)
    ctx.onEnd((end) => {
      turns.end(ctx, turn)
      quietly(() => endTurn(turn, end, replayed(ctx)))
    })
    return turn
  }

  function endTurn({ span }: OpenTurn, { status, usage, error }: RunEnd, more: Attributes): void {
    span.setAttributes({ [ownNames.status]: status, ...usageAttributes(usage), ...more })
    if (status === 'failed') tell({ span }, error)
    span.end()
  }

  /** The turn of a call. A sub-agent that inherits the layer has none yet: its first call begins it. */
  function turnOf(ctx: TurnContext): OpenTurn {
    const known = turns.of(ctx)
    if (known !== undefined) return known
    const place = turns.placeOf(ctx)
    const turn = beginTurn(ctx, place?.parent ?? context.active())
    const { tool } = place ?? {}
    if (tool !== undefined) {
      tool.inner = turn
      ctx.onEnd(() => {
        if (tool.inner === turn) delete tool.inner
      })
    }
    return turn
  }

  function begin(ctx: TurnContext, operation: string, subject: string, kind: SpanKind, about: Attributes): OpenSpan {
    return start(ctx, operation, subject, kind, about, parentIn(turnOf(ctx)))
  }

  function start(
    ctx: TurnContext,
    operation: string,
    subject: string,
    kind: SpanKind,
    about: Attributes,
    parent: Context,
  ): OpenSpan {
    const more = quietly(() => attributes?.(ctx))
    const options = { kind, attributes: { [names.operation]: operation, ...about, ...more } }
    const span = tracer.startSpan(`${operation} ${subject}`, options, parent)
    return { span, context: api.setSpan(parent, span) }
  }

  function modelCall(ctx: ModelContext): Attributes {
    const said = content ? inputContent(ctx.request.messages) : {}
    return { ...modelAttributes(ctx.model), [names.conversation]: ctx.sessionId, ...requestAttributes(ctx), ...said }
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

  function answered(call: OpenSpan | undefined, response: ModelResponse, firstChunk: number | undefined): void {
    const began = firstChunk !== undefined && { [names.firstChunk]: firstChunk / 1000 }
    const said = content && outputContent(response)
    call?.span.setAttributes({ ...responseAttributes(response), ...began, ...said })
  }

  function came(call: OpenSpan, result: ToolResult): void {
    call.span.setAttribute(ownNames.status, result.status)
    if (content) call.span.setAttributes(resultContent(result))
    if (result.status === 'error') tell(call, result.error, 'tool_error')
  }

  /** An abort or a block is how a call ended, and no error. */
  function failed(call: OpenSpan, error: unknown): void {
    const status = decisionOf(error)
    call.span.setAttribute(ownNames.status, status)
    if (status === 'failed') tell(call, error)
  }

  function tell({ span }: Pick<OpenSpan, 'span'>, error: unknown, otherwise?: string): void {
    const known = error !== undefined || otherwise === undefined
    span.setAttribute(names.errorType, known ? errorType(error) : otherwise)
    const message = content && known ? messageOf(error) : undefined
    span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) })
  }

  /** next() with the span as the active one, for what the application has instrumented. */
  function inside<R>(open: OpenSpan | undefined, next: () => Promise<R>): Promise<R> {
    return open === undefined ? next() : context.with(open.context, () => next())
  }
}

/** Of a span that tells what an earlier life of the run has told. */
function replayed({ replaying }: TurnContext): Attributes {
  return replaying ? { [ownNames.replayed]: true } : {}
}
