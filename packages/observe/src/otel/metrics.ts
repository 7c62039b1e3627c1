import {
  defineMiddleware,
  layerOptions,
  type ModelContext,
  type ModelResponse,
  option,
  type ToolContext,
  type ToolResult,
  type TurnContext,
  type TurnView,
  type TypedMiddleware,
} from '@allium/core'
import { isReplaying, physicalCallsOf } from '@allium/core/context'
import type { PhysicalCall } from '@allium/core/internal'
import type { Attributes, Histogram, Meter } from '@opentelemetry/api'
import { errorType } from '../error-type.ts'
import { decisionOfError } from '../failure.ts'
import { ignoreErrors } from '../ignore-errors.ts'
import { knownTool } from '../known-tool.ts'
import { firstChunkOf, stopwatch } from '../stopwatch.ts'
import { watchCall } from '../watch-call.ts'
import { responseModel } from './call-attributes.ts'
import { type Instruments, makeInstruments } from './instruments.ts'
import { modelAttributes } from './model-attributes.ts'
import { alliumNames, names } from './names.ts'

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
  const measures = new Measures(meter)

  return defineMiddleware({
    name: as,
    order: { is: ['traces'] },
    innermost: true,
    inherit: true,
    async turn(ctx, next) {
      measures.turn(ctx)
      await next()
    },
    model: (ctx, next) => measures.model(ctx, next),
    tool: (ctx, next) => measures.tool(ctx, next),
  })
}

/** Measures turns and calls with the instruments of a meter. */
class Measures {
  readonly #meter: Meter | undefined
  #instruments: Instruments | undefined

  constructor(meter: Meter | undefined) {
    this.#meter = meter
  }

  turn(ctx: TurnContext): void {
    const ms = stopwatch(ctx.clock)
    ctx.onEnd(({ status, error }) =>
      this.#record(ctx, (all) => all.agents, ms(), {
        [names.operation]: 'invoke_agent',
        [names.agent]: ctx.agent.name,
        [alliumNames.status]: status,
        ...(status === 'failed' && { [names.errorType]: errorType(error) }),
      }),
    )
  }

  async model(ctx: ModelContext, next: () => Promise<ModelResponse>): Promise<ModelResponse> {
    const ms = stopwatch(ctx.clock)
    const attributes = { [names.operation]: 'chat', ...modelAttributes(ctx.model) }
    const firstChunk = firstChunkOf(ctx, ms)
    try {
      return await watchCall(next, {
        onResult: ({ model }) => {
          const answered = { ...attributes, ...responseModel(model) }
          this.#record(ctx, (all) => all.operations, ms(), answered)
          this.#record(ctx, (all) => all.firstChunks, firstChunk(), answered)
        },
        onError: (error) =>
          this.#record(ctx, (all) => all.operations, ms(), { ...attributes, [names.errorType]: typeOf(error) }),
      })
    } finally {
      ignoreErrors(() => isReplaying(ctx) || this.#recordTokens(physicalCallsOf(ctx), attributes))
    }
  }

  tool(ctx: ToolContext, next: () => Promise<ToolResult>): Promise<ToolResult> {
    const ms = stopwatch(ctx.clock)
    const attributes = { [names.operation]: 'execute_tool', [names.toolName]: knownTool(ctx) }
    const record = (failure?: string) =>
      this.#record(ctx, (all) => all.tools, ms(), {
        ...attributes,
        ...(failure !== undefined && { [names.errorType]: failure }),
      })
    return watchCall(next, {
      onResult({ status, error }) {
        if (status === 'ok') record()
        else if (status === 'error') record(error === undefined ? 'tool_error' : errorType(error))
      },
      onError: (error) => record(typeOf(error)),
    })
  }

  /** A call without a result used no tokens. */
  #recordTokens(calls: readonly PhysicalCall[], requestAttributes: Attributes): void {
    const { tokens } = this.#all
    for (const { model, usage } of calls) {
      const { inputTokens, outputTokens, estimated } = usage
      if (inputTokens + outputTokens === 0) continue
      const attributes = {
        ...requestAttributes,
        ...responseModel(model),
        ...(estimated === true && { [alliumNames.estimated]: true }),
      }
      tokens.record(inputTokens, { ...attributes, [names.tokenType]: 'input' })
      tokens.record(outputTokens, { ...attributes, [names.tokenType]: 'output' })
    }
  }

  /** Records a time in milliseconds; undefined if nothing arrived or the clock failed. Replayed calls were measured when they happened. */
  #record(ctx: TurnView, pick: (all: Instruments) => Histogram, ms: number | undefined, attributes: Attributes): void {
    if (ms !== undefined && !isReplaying(ctx)) ignoreErrors(() => pick(this.#all).record(ms / 1000, attributes))
  }

  /** Created late, because before the application registers its meters there are only no-op meters. */
  get #all(): Instruments {
    return (this.#instruments ??= makeInstruments(this.#meter))
  }
}

/** Aborts and blocks are reported by name. */
function typeOf(error: unknown): string {
  const decision = decisionOfError(error)
  return decision === 'failed' ? errorType(error) : decision
}
