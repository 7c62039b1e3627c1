import type { ContentChunk, OnChunk, Pipe } from '@allium/core'
import type { AnyContext, WrappedHook } from './combine.ts'

type OnFailure = (error: unknown) => void

/** Returns a context in which a transform that throws calls `onFailure`. Unless that throws too, later chunks pass through unchanged. */
export function guardTransforms(ctx: AnyContext, { scope }: WrappedHook, onFailure: OnFailure): AnyContext {
  if (scope !== 'turn' && scope !== 'model') return ctx
  const verbs: Record<PropertyKey, unknown> = {
    onChunk: (fn: OnChunk) => ctx.onChunk?.(guardMap(fn, onFailure)),
    pipe: (fn: Pipe) => ctx.pipe?.(guardPipe(fn, onFailure)),
  }
  return new Proxy(ctx, {
    get(target, key) {
      const value: unknown = verbs[key] ?? Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
    set: (target, key, value) => Reflect.set(target, key, value, target),
  })
}

function guardMap(map: OnChunk, onFailure: OnFailure): OnChunk {
  let hasFailed = false
  return (chunk) => {
    if (hasFailed) return
    try {
      return map(chunk)
    } catch (error) {
      hasFailed = true
      onFailure(error)
    }
  }
}

/** After a failure, the chunks since the last yield and all later ones pass through unchanged. */
function guardPipe(pipe: Pipe, onFailure: OnFailure): Pipe {
  return async function* (chunks, end) {
    let pending: ContentChunk[] = []
    const source = chunks[Symbol.asyncIterator]()
    const next = async () => {
      const result = await source.next()
      if (result.done !== true) pending.push(result.value)
      return result
    }
    try {
      for await (const chunk of pipe({ [Symbol.asyncIterator]: () => ({ next }) }, end)) {
        pending = []
        yield chunk
      }
    } catch (error) {
      onFailure(error)
      yield* pending
      for (let result = await source.next(); result.done !== true; result = await source.next()) yield result.value
    }
  }
}
