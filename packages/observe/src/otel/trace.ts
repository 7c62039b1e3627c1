import { defineMiddleware, layerOptions, option, type TurnView, type TypedMiddleware } from '@allium/core'
import { type Attributes, trace as api, type Tracer } from '@opentelemetry/api'
import { ignoreErrors } from '../ignore-errors.ts'
import { traceCall } from './call-span.ts'
import { ModelSpan } from './model-span.ts'
import { ToolSpan } from './tool-span.ts'
import { runInSpan, TurnSpans } from './turn-spans.ts'

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
  const turns = new TurnSpans({ tracer, content, attributes })

  return defineMiddleware({
    name: as,
    // Not `observes`: its turn hook, which runs first, reads no text; its call hooks do.
    order: { is: ['traces', 'records'] },
    innermost: true,
    inherit: true,
    async turn(ctx, next) {
      await runInSpan(
        ignoreErrors(() => turns.begin(ctx)),
        next,
      )
    },
    model: (ctx, next) => traceCall(() => new ModelSpan(ctx, turns), next),
    tool: (ctx, next) => traceCall(() => new ToolSpan(ctx, turns), next),
  })
}
