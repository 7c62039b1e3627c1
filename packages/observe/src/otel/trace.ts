import { defineMiddleware, layerOptions, option, type TurnView, type TypedMiddleware } from '@allium/core'
import { createPricing, type Prices } from '@allium/shared/prices'
import { type Attributes, trace as api, type Tracer } from '@opentelemetry/api'
import { ignoreErrors } from '../ignore-errors.ts'
import { Reporters } from '../reporters.ts'
import { traceCall } from './call-span.ts'
import { alliumNames, type ConventionNames, conventionNames, conventionsOf } from './conventions.ts'
import type { EventLogger } from './event-logger.ts'
import { ModelSpan } from './model-span.ts'
import { ToolSpan } from './tool-span.ts'
import { runInSpan, TurnSpans } from './turn-spans.ts'

export interface TraceOptions {
  /** @default the tracer that the application registered */
  tracer?: Tracer | undefined
  /** Whether prompts, answers, arguments, results and error messages are recorded. @default false */
  content?: boolean | undefined
  /** Whether model calls have the definitions of their tools, with descriptions and schemas. They are large. @default false */
  toolDefinitions?: boolean | undefined
  /** Whether every span has `user.id` and `session.id`, by which tracing tools group traces. @default false */
  identity?: boolean | undefined
  /**
   * Whether model calls and turns have their cost in USD: with the public list of prices, your own prices, or another attribute than
   * `allium.usage.cost`. A turn counts its sub-agents. If a price is unknown, there is none. @default false
   */
  cost?: boolean | CostOptions | undefined
  /** Receives an event for each failed model call: a logger of `@opentelemetry/api-logs`. @default none */
  eventLogger?: EventLogger | undefined
  /** The version of the conventions: the newest, or the one of `@opentelemetry/semantic-conventions` 1.45.0. @default 'latest' */
  names?: ConventionNames | undefined
  /** Returns additional attributes for every span. @default none */
  attributes?(ctx: TurnView): Attributes
  /** The layer's name. @default 'observe:trace' */
  as?: string | undefined
}

export interface CostOptions {
  /** Your own prices, used first. @default a public list */
  prices?: Prices | undefined
  /** @default 'allium.usage.cost' */
  attribute?: string | undefined
}

const readOptions = layerOptions<TraceOptions>('observe:trace', {
  tracer: option.object,
  content: option.flag,
  toolDefinitions: option.flag,
  identity: option.flag,
  cost: option.either(
    option.flag,
    option.shape<CostOptions>({ prices: option.either(option.object, option.fn), attribute: option.text }),
  ),
  eventLogger: option.object,
  names: option.oneOf(...conventionNames),
  attributes: option.fn,
})

/** By the names, because an application may send the same spans under old and new names for a while. */
const reporters: Record<ConventionNames, Reporters<TurnSpans>> = { latest: new Reporters(), '1.45': new Reporters() }

/**
 * Traces turns, model calls and tool calls with OpenTelemetry, by its conventions for generative AI: `invoke_agent`
 * with `chat` and `execute_tool` inside, sub-agents nested.
 *
 * Register it first. It always runs directly around the provider and the tool, so each attempt of a retry has its own span.
 * If the application has a context manager, instrumented code in providers and tools becomes a child of these spans.
 * If a sub-agent has the layer, too, with the same tracer, its calls have one span each, and the options of the outer agent apply.
 *
 * @example
 * import { trace } from '@allium/observe/otel'
 * agent.use(trace())
 */
export function trace(options: TraceOptions = {}): TypedMiddleware<{}> {
  const {
    tracer = api.getTracer('@allium/observe'),
    names = 'latest',
    content = false,
    toolDefinitions = false,
    identity = false,
    eventLogger,
    attributes,
    as = 'observe:trace',
  } = readOptions(options)
  const conventions = conventionsOf(names)
  const settings = { tracer, conventions, content, toolDefinitions, identity, eventLogger, attributes }
  const own = new TurnSpans({ ...settings, ...costSettings(options.cost) })
  const destination = options.tracer ?? 'the registered tracer'
  const spansFor = (ctx: TurnView) => reporters[names].forTurn(ctx, destination, own)

  return defineMiddleware({
    name: as,
    // Not `observes`: its turn hook, which runs first, reads no text; its call hooks do.
    order: { is: ['traces', 'records', 'reports'] },
    innermost: true,
    inherit: true,
    async turn(ctx, next) {
      await runInSpan(
        ignoreErrors(() => spansFor(ctx).of(ctx)),
        next,
      )
    },
    model: (ctx, next) => (spansFor(ctx) === own ? traceCall(() => new ModelSpan(ctx, own), next) : next()),
    tool: (ctx, next) => (spansFor(ctx) === own ? traceCall(() => new ToolSpan(ctx, own), next) : next()),
  })
}

function costSettings(cost: TraceOptions['cost']): Pick<TurnSpans['settings'], 'costOf' | 'costName'> {
  if (cost === undefined || cost === false) return { costOf: undefined, costName: alliumNames.cost }
  const { prices, attribute = alliumNames.cost } = cost === true ? {} : cost
  return { costOf: createPricing(prices), costName: attribute }
}
