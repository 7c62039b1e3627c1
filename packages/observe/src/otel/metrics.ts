import { defineMiddleware, layerOptions, option, type TurnView, type TypedMiddleware } from '@allium/core'
import type { Meter } from '@opentelemetry/api'
import { Reporters } from '../reporters.ts'
import { type ConventionNames, conventionNames, conventionsOf } from './conventions.ts'
import { Measures } from './measures.ts'

export interface MetricsOptions {
  /** @default the application's, requested with the first call */
  meter?: Meter | undefined
  /** The version of the conventions: the newest, or the one of `@opentelemetry/semantic-conventions` 1.45.0. @default 'latest' */
  names?: ConventionNames | undefined
  /** The layer's name. @default 'observe:metrics' */
  as?: string | undefined
}

const readOptions = layerOptions<MetricsOptions>('observe:metrics', {
  meter: option.object,
  names: option.oneOf(...conventionNames),
})

/** By the names, because an application may report old and new ones for a while. */
const reporters: Record<ConventionNames, Reporters<Measures>> = { latest: new Reporters(), '1.45': new Reporters() }

/**
 * Measures model calls, tokens, tools and turns with OpenTelemetry, by its conventions for generative AI.
 *
 * Register it anywhere. It always runs directly around the provider and the tool, so each attempt of a retry counts; replayed calls do
 * not. Attributes contain no tenant, user or session, because each would create a separate time series. If a sub-agent has the layer, too,
 * with the same meter, its calls count once.
 *
 * @example
 * import { metrics } from '@allium/observe/otel'
 * agent.use(metrics())
 */
export function metrics(options: MetricsOptions = {}): TypedMiddleware<{}> {
  const { meter, names = 'latest', as = 'observe:metrics' } = readOptions(options)
  const own = new Measures(conventionsOf(names), meter)
  const measuresOf = (ctx: TurnView) => reporters[names].forTurn(ctx, meter ?? 'the registered meter', own)

  return defineMiddleware({
    name: as,
    order: { is: ['traces', 'reports'] },
    innermost: true,
    inherit: true,
    async agent(ctx, next) {
      ctx.on('observe:promptCache', (event) => {
        // Once, if the agent reports old names, too, or if it is the event of a sub-agent.
        if (names === 'latest' && !('path' in event)) own.promptCache(event)
      })
      ctx.on('rollout:decided', (event) => {
        if (names === 'latest' && !('path' in event)) own.rollout(event)
      })
      await next()
    },
    async turn(ctx, next) {
      measuresOf(ctx).turn(ctx)
      await next()
    },
    model: (ctx, next) => (measuresOf(ctx) === own ? own.model(ctx, next) : next()),
    tool: (ctx, next) => (measuresOf(ctx) === own ? own.tool(ctx, next) : next()),
  })
}
