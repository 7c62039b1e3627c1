import {
  defineMiddleware,
  layerOptions,
  type ModelResponse,
  option,
  type TurnView,
  type TypedMiddleware,
} from '@allium/core'
import { isReplaying, physicalCallsOf } from '@allium/core/context'
import type { PhysicalCall } from '@allium/core/internal'
import { type Attributes, metrics as api, type Histogram, type Meter } from '@opentelemetry/api'
import { errorType } from '../error-type.ts'
import { decisionOfError } from '../failure.ts'
import { ignoreErrors } from '../ignore-errors.ts'
import { knownTool } from '../known-tool.ts'
import { firstChunkOf, stopwatch } from '../stopwatch.ts'
import { responseModel } from './call-attributes.ts'
import { modelAttributes } from './model-attributes.ts'
import { alliumNames, metricNames, names } from './names.ts'

export interface MetricsOptions {
  /** @default the application's, requested with the first call */
  meter?: Meter | undefined
  /** The layer's name. @default 'observe:metrics' */
  as?: string | undefined
}

const readOptions = layerOptions<MetricsOptions>('observe:metrics', {
  meter: option.object,
})

/**
 * Measures model calls, tokens, tools and turns with OpenTelemetry, by its conventions for generative AI.
 *
 * Register it anywhere. It always runs directly around the provider and the tool, so each attempt of a retry counts; replayed calls do
 * not. Attributes contain no tenant, user or session, because each would create a separate time series.
 *
 * @example
 * import { metrics } from '@allium/observe/otel'
 * agent.use(metrics())
 */
export function metrics(options: MetricsOptions = {}): TypedMiddleware<{}> {
  const { meter, as = 'observe:metrics' } = readOptions(options)
  let cached: Instruments | undefined
  // Created late, because before the application registers its meters there are only no-op meters.
  const instruments = () => (cached ??= makeInstruments(meter ?? api.getMeter('@allium/observe')))

  return defineMiddleware({
    name: as,
    order: { is: ['traces'] },
    innermost: true,
    inherit: true,
    async turn(ctx, next) {
      const ms = stopwatch(ctx.clock)
      ctx.onEnd(({ status, error }) => {
        const failed = status === 'failed' && { [names.errorType]: errorType(error) }
        const attributes = {
          [names.operation]: 'invoke_agent',
          [names.agent]: ctx.agent.name,
          [alliumNames.status]: status,
          ...failed,
        }
        record(ctx, (all) => all.agents, ms(), attributes)
      })
      await next()
    },
    async model(ctx, next) {
      const ms = stopwatch(ctx.clock)
      const attributes = { [names.operation]: 'chat', ...modelAttributes(ctx.model) }
      const firstChunk = firstChunkOf(ctx, ms)
      try {
        const response = await next()
        ignoreErrors(() => recordResponse(ctx, response, attributes, { whole: ms(), firstChunk: firstChunk() }))
        return response
      } catch (error) {
        record(ctx, (all) => all.operations, ms(), { ...attributes, [names.errorType]: typeOf(error) })
        throw error
      } finally {
        ignoreErrors(() => isReplaying(ctx) || recordUsage(physicalCallsOf(ctx), attributes))
      }
    },
    async tool(ctx, next) {
      const ms = stopwatch(ctx.clock)
      const attributes = { [names.operation]: 'execute_tool', [names.toolName]: knownTool(ctx) }
      try {
        const result = await next()
        const { status, error } = result
        const failed = status === 'error' && {
          [names.errorType]: error === undefined ? 'tool_error' : errorType(error),
        }
        if (status === 'ok' || status === 'error') record(ctx, (all) => all.tools, ms(), { ...attributes, ...failed })
        return result
      } catch (error) {
        record(ctx, (all) => all.tools, ms(), { ...attributes, [names.errorType]: typeOf(error) })
        throw error
      }
    },
  })

  function recordResponse(ctx: TurnView, response: ModelResponse, requestAttributes: Attributes, ms: Times): void {
    const attributes = { ...requestAttributes, ...responseModel(response.model) }
    record(ctx, (all) => all.operations, ms.whole, attributes)
    record(ctx, (all) => all.firstChunks, ms.firstChunk, attributes)
  }

  /** A call without a result used no tokens. */
  function recordUsage(calls: readonly PhysicalCall[], requestAttributes: Attributes): void {
    for (const { model, usage } of calls) {
      const { inputTokens, outputTokens, estimated } = usage
      if (inputTokens + outputTokens === 0) continue
      const attributes = {
        ...requestAttributes,
        ...responseModel(model),
        ...(estimated === true && { [alliumNames.estimated]: true }),
      }
      instruments().tokens.record(inputTokens, { ...attributes, [names.tokenType]: 'input' })
      instruments().tokens.record(outputTokens, { ...attributes, [names.tokenType]: 'output' })
    }
  }

  /** Replayed calls were measured when they happened. */
  function record(
    ctx: TurnView,
    pick: (all: Instruments) => Histogram,
    ms: number | undefined,
    attributes: Attributes,
  ): void {
    if (ms !== undefined && !isReplaying(ctx)) ignoreErrors(() => pick(instruments()).record(ms / 1000, attributes))
  }
}

/** Times of a model call in milliseconds; undefined if nothing arrived or the clock failed. */
type Times = Record<'whole' | 'firstChunk', number | undefined>

interface Instruments {
  readonly operations: Histogram
  readonly firstChunks: Histogram
  readonly tokens: Histogram
  readonly agents: Histogram
  readonly tools: Histogram
}

function makeInstruments(meter: Meter): Instruments {
  const seconds = (name: string, description: string) =>
    meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries: durationBuckets } })
  return {
    operations: seconds(metricNames.operationDuration, 'Time of a model call'),
    firstChunks: seconds(metricNames.firstChunk, 'Time until a model call sent its first chunk'),
    agents: seconds(metricNames.agentDuration, 'Time of a turn'),
    tools: seconds(metricNames.toolDuration, 'Time of a tool call'),
    tokens: meter.createHistogram(metricNames.tokenUsage, {
      description: 'Tokens of a model call',
      unit: '{token}',
      advice: { explicitBucketBoundaries: tokenBuckets },
    }),
  }
}

/** The buckets of the conventions: powers of 2 from 10 ms, and of 4. */
const durationBuckets = Array.from({ length: 14 }, (_, i) => 2 ** i / 100)
const tokenBuckets = Array.from({ length: 14 }, (_, i) => 4 ** i)

/** Aborts and blocks are reported by name. */
function typeOf(error: unknown): string {
  const decision = decisionOfError(error)
  return decision === 'failed' ? errorType(error) : decision
}
