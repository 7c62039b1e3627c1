/** A layer of a bare onion: no agent, no scopes. */
export type Layer<C = unknown, R = unknown> = (ctx: C, next: () => Promise<R>) => R | Promise<R>

/**
 * Composes layers as koa-compose does, on its own, for any context: `compose([a, b])(ctx, core)`.
 * The core gets `(ctx, next)`; without one the innermost `next()` gives `undefined`.
 *
 * @throws TypeError when `layers` is not an array of functions. A second `next()` of one layer rejects.
 */
export function compose<C, R = unknown>(layers: readonly Layer<C, R>[]): (ctx: C, core?: Layer<C, R>) => Promise<R> {
  if (!Array.isArray(layers)) throw new TypeError('compose() takes an array of functions, (ctx, next) => …')
  for (const layer of layers)
    if (typeof layer !== 'function') throw new TypeError('compose() takes functions, (ctx, next) => …')
  return (ctx, core) => {
    let entered = -1
    const enter = (index: number): Promise<R> => {
      if (index <= entered) return Promise.reject(new Error('next() called multiple times'))
      entered = index
      const layer = index === layers.length ? core : layers[index]
      if (layer === undefined) return Promise.resolve(undefined as R)
      try {
        return Promise.resolve(layer(ctx, () => enter(index + 1)))
      } catch (error) {
        return Promise.reject(error)
      }
    }
    return enter(0)
  }
}
