import { defineMiddleware, layerOptions, type TurnView, type TypedMiddleware, withState } from '@allium/core'
import { isResumed } from '@allium/core/context'
import { firstChunkOf, stopwatch } from './stopwatch.ts'

export interface DurationOptions<Name extends string = string> {
  /** The layer's name, and the prefix of its state keys. @default 'observe:duration' */
  as?: Name | undefined
}

/** Times in milliseconds. */
export interface Timing {
  count: number
  total: number
  longest: number
  last: number
}

/** The session's times by scope. */
export type DurationState<Name extends string> = Record<`${Name}:turn` | `${Name}:model` | `${Name}:tool`, Timing>

/** A turn, a model call or a tool call ended, with any outcome. */
export interface ObserveDuration {
  type: 'observe:duration'
  /** The layer that measured. */
  layer: string
  scope: 'turn' | 'model' | 'tool'
  /** The model or the tool. */
  name?: string
  ms: number
  /** For a model call: the milliseconds until its first chunk. An inner retry does not restart it. */
  firstChunk?: number
}

declare module '@allium/core' {
  interface AgentEvents {
    'observe:duration': ObserveDuration
  }
}

const readOptions = layerOptions<DurationOptions>('observe:duration', {})

/**
 * Measures turns, model calls and tool calls, in the session's state and as `observe:duration` events.
 *
 * It measures the time inside this layer. Registered first, that is the caller's waiting time, including retries and other layers.
 * Registered last, it is the time of the provider and the tool. A turn that waits for a human counts once, without the time that the
 * human takes.
 *
 * @example
 * agent.use(observe.duration()).on('observe:duration', ({ scope, name, ms }) => report(scope, name, ms))
 */
export function duration<Name extends string = 'observe:duration'>(
  options: DurationOptions<Name> = {},
): TypedMiddleware<DurationState<Name>> {
  const { as = 'observe:duration' as Name } = readOptions(options)
  const layer = defineMiddleware<Record<string, unknown>>({
    name: as,
    // Not `observes`: it stores no text that an outer layer would have to redact.
    order: { is: ['traces'] },
    inherit: true,
    state: {
      [`${as}:turn`]: { default: emptyTiming, reducer: addTiming },
      [`${as}:model`]: { default: emptyTiming, reducer: addTiming },
      [`${as}:tool`]: { default: emptyTiming, reducer: addTiming },
    },
    turn: (ctx, next) => measure(ctx, { scope: 'turn', isContinued: isResumed(ctx) }, next),
    model: (ctx, next) => {
      const firstChunk = firstChunkOf(ctx, stopwatch(ctx.clock))
      return measure(ctx, { scope: 'model', name: () => ctx.model, firstChunk }, next)
    },
    tool: (ctx, next) =>
      measure(ctx, { scope: 'tool', name: () => ctx.tool.name }, next, ({ status }) => status !== 'suspended'),
  })
  return withState<DurationState<Name>>(layer)

  async function measure<R>(
    ctx: TurnView<Record<string, unknown>>,
    { scope, name, firstChunk, isContinued = false }: Measurement,
    next: () => Promise<R>,
    shouldRecord: (result: R) => boolean = () => true,
  ): Promise<R> {
    const elapsed = stopwatch(ctx.clock)
    let shouldCount = true
    try {
      const result = await next()
      shouldCount = shouldRecord(result)
      return result
    } finally {
      const ms = shouldCount ? elapsed() : undefined
      if (ms !== undefined) {
        ctx.state[`${as}:${scope}`] = { ms, isContinued }
        const first = firstChunk?.()
        const firstChunkField = first !== undefined && { firstChunk: first }
        ctx.emit({ type: 'observe:duration', layer: as, scope, ...(name && { name: name() }), ms, ...firstChunkField })
      }
    }
  }
}

interface Measurement {
  scope: 'turn' | 'model' | 'tool'
  name?(): string
  firstChunk?(): number | undefined
  /** Whether it is a resumed turn. */
  isContinued?: boolean
}

function emptyTiming(): Timing {
  return { count: 0, total: 0, longest: 0, last: 0 }
}

/** A resumed turn adds to the last one. */
function addTiming(
  { count, total, longest, last }: Timing,
  { ms, isContinued }: { ms: number; isContinued: boolean },
): Timing {
  const combined = isContinued ? last + ms : ms
  return {
    count: isContinued ? Math.max(1, count) : count + 1,
    total: total + ms,
    longest: Math.max(longest, combined),
    last: combined,
  }
}
