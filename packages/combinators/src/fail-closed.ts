import type { OnChunk, Pipe } from '@allium/core'
import { isEnding } from './attempt.ts'
import { type AnyContext, type Combinable, type Combined, combine, type HookPlace } from './combine.ts'
import { Inside, runGuarded, tellFailure, throwInner } from './own-failure.ts'
import { withFields } from './with-fields.ts'

export interface FailClosedOptions {
  /** What the result and the model are told. @default 'The layer "…" failed.' */
  reason?: string
  /** What the user is told when a turn or model call is blocked. @default nothing */
  reply?: string
}

/**
 * Refuses, when the layer itself throws: a turn or a model call is blocked, a tool call is denied.
 *
 * For guards: a guard that cannot decide must not let through, and the run should end as `blocked`, not `failed`. Errors
 * from inside, aborts and blocks pass as they are; so do errors of agent and session hooks, which close the
 * agent as it is. Each failure is told as a `layer:failed` event to observers, and to the logger; the reason tells nothing of it.
 *
 * @example
 * agent.use(failClosed(contentGuard(), { reply: 'Please try again later.' }))
 */
export function failClosed<M extends Combinable>(layer: M, options: FailClosedOptions = {}): Combined<M> {
  return combine('failClosed', layer, (place) => {
    if (place.scope === 'agent' || place.scope === 'session') return place.run
    const { reason = `The layer "${place.layer}" failed.`, reply } = options
    return (ctx, next) => {
      const refuse = (error: unknown): unknown => {
        tellFailure(ctx, place, 'closed', error)
        if (place.scope === 'tool') return ctx.deny?.(reason)
        return ctx.block?.(reason, reply === undefined ? {} : { reply })
      }
      const inside = new Inside(next)
      return runGuarded(place, strict(ctx, place, refuse), inside, (error) => {
        throwInner(inside, error)
        return refuse(error)
      })
    }
  })
}

/** A context whose transforms refuse when they throw: in the stream it would look like an error from inside. */
function strict(ctx: AnyContext, { scope }: HookPlace, refuse: (error: unknown) => unknown): AnyContext {
  if (scope === 'tool') return ctx
  const threw = (error: unknown): never => {
    if (!isEnding(ctx, error)) refuse(error)
    throw error
  }
  return withFields(ctx, {
    onChunk: (fn) => ctx.onChunk?.(strictMap(fn, threw)),
    pipe: (fn) => ctx.pipe?.(strictPipe(fn, threw)),
  })
}

function strictMap(map: OnChunk, threw: (error: unknown) => never): OnChunk {
  return (chunk) => {
    try {
      return map(chunk)
    } catch (error) {
      return threw(error)
    }
  }
}

function strictPipe(pipe: Pipe, threw: (error: unknown) => never): Pipe {
  return async function* (chunks, end) {
    try {
      yield* pipe(chunks, end)
    } catch (error) {
      threw(error)
    }
  }
}
