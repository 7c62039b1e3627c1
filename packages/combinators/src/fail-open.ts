import { type ContentChunk, type NextFor, noteFields, type OnChunk, type Pipe } from '@allium/core'
import { attemptOf, isEnding } from './attempt.ts'
import { type AnyContext, type Combinable, type Combined, combine, type HookPlace } from './combine.ts'
import { Inside, runGuarded, tellFailure, throwInner } from './own-failure.ts'
import { withFields } from './with-fields.ts'

/**
 * Goes on as though the layer were not there, when the layer itself throws.
 *
 * For layers that help but must not decide: a recommendation, a log, a cache. What next() gave is kept; where the
 * layer threw before next(), its changes to the call are undone and next() is called in its place. Errors from inside,
 * aborts and blocks pass as they are. Each failure is told as a `layer:failed` event to observers, and to the logger.
 *
 * @example
 * agent.use(failOpen(relatedArticles()))
 */
export function failOpen<M extends Combinable>(layer: M): Combined<M> {
  return combine('failOpen', layer, (place) => (ctx, next) => {
    const undo = noteFields(attemptOf(ctx))
    const inside = new Inside(next, true)
    const tell = (error: unknown) => tellFailure(ctx, place, 'open', error)
    return runGuarded(place, harmless(ctx, place, tell), inside, (error) => {
      tell(error)
      return withoutIt(inside, error, next, undo)
    })
  })
}

function withoutIt(inside: Inside, error: unknown, next: NextFor<unknown>, undo: () => void): unknown {
  const { running, outcome } = inside
  if (running !== undefined) return running
  throwInner(inside, error)
  if (outcome !== undefined && 'value' in outcome) return outcome.value
  undo()
  return next()
}

/** A context whose transforms let chunks through once they have thrown. */
function harmless(ctx: AnyContext, { scope }: HookPlace, tell: (error: unknown) => void): AnyContext {
  if (scope !== 'turn' && scope !== 'model') return ctx
  const failed = (error: unknown) => {
    if (isEnding(ctx, error)) throw error
    tell(error)
  }
  return withFields(ctx, {
    onChunk: (fn) => ctx.onChunk?.(openMap(fn, failed)),
    pipe: (fn) => ctx.pipe?.(openPipe(fn, failed)),
  })
}

function openMap(map: OnChunk, failed: (error: unknown) => void): OnChunk {
  let broken = false
  return (chunk) => {
    if (broken) return
    try {
      return map(chunk)
    } catch (error) {
      broken = true
      failed(error)
    }
  }
}

/** After a failure, what the pipe took since it last gave something goes on as it came, and so does the rest. */
function openPipe(pipe: Pipe, failed: (error: unknown) => void): Pipe {
  return async function* (chunks, end) {
    let taken: ContentChunk[] = []
    const source = chunks[Symbol.asyncIterator]()
    const watched: AsyncIterable<ContentChunk> = {
      [Symbol.asyncIterator]: () => ({
        async next() {
          const result = await source.next()
          if (result.done !== true) taken.push(result.value)
          return result
        },
      }),
    }
    try {
      for await (const chunk of pipe(watched, end)) {
        taken = []
        yield chunk
      }
    } catch (error) {
      failed(error)
      yield* taken
      for (let result = await source.next(); result.done !== true; result = await source.next()) yield result.value
    }
  }
}
