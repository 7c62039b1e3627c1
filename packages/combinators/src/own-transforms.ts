import type { ContentChunk, OnChunk, Pipe } from '@allium/core'
import type { AnyContext, HookPlace } from './combine.ts'

type Failed = (error: unknown) => void

/** The context, where a transform that throws calls `failed`: unless that throws too, chunks go through as they come from then on. */
export function watchTransforms(ctx: AnyContext, { scope }: HookPlace, failed: Failed): AnyContext {
  if (scope !== 'turn' && scope !== 'model') return ctx
  const verbs: Record<PropertyKey, unknown> = {
    onChunk: (fn: OnChunk) => ctx.onChunk?.(watchMap(fn, failed)),
    pipe: (fn: Pipe) => ctx.pipe?.(watchPipe(fn, failed)),
  }
  return new Proxy(ctx, {
    get(target, key) {
      const value: unknown = verbs[key] ?? Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
    set: (target, key, value) => Reflect.set(target, key, value, target),
  })
}

function watchMap(map: OnChunk, failed: Failed): OnChunk {
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

/** What the pipe took since it last gave something goes on as it came, and so does the rest. */
function watchPipe(pipe: Pipe, failed: Failed): Pipe {
  return async function* (chunks, end) {
    let taken: ContentChunk[] = []
    const source = chunks[Symbol.asyncIterator]()
    const next = async () => {
      const result = await source.next()
      if (result.done !== true) taken.push(result.value)
      return result
    }
    try {
      for await (const chunk of pipe({ [Symbol.asyncIterator]: () => ({ next }) }, end)) {
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
