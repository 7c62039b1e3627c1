import type { AnyContext } from './combine.ts'

/** Returns a context that can be revoked. After that its methods and writes throw, and its signal is aborted. */
export function revocable(
  ctx: AnyContext,
  revokedError: () => Error | undefined,
): { ctx: AnyContext; revoke(error: Error): void } {
  const controller = new AbortController()
  let signal: AbortSignal | undefined
  const proxy = revocableProxy(ctx, (key, value) => {
    if (key === 'signal' && value !== undefined)
      return (signal ??= AbortSignal.any([value as AbortSignal, controller.signal]))
    return sharedFields.has(key) && typeof value === 'object' && value !== null ? revocableProxy(value) : value
  })
  return { ctx: proxy, revoke: (error) => controller.abort(error) }

  function revocableProxy<T extends object>(
    original: T,
    field: (key: PropertyKey, value: unknown) => unknown = passThrough,
  ): T {
    return new Proxy(original, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target)
        if (typeof value !== 'function') return field(key, value)
        return (...args: unknown[]) => {
          throwIfRevoked()
          return value.apply(target, args)
        }
      },
      set(target, key, value) {
        throwIfRevoked()
        return Reflect.set(target, key, value, target)
      },
      deleteProperty(target, key) {
        throwIfRevoked()
        return Reflect.deleteProperty(target, key)
      },
    })
  }

  function throwIfRevoked(): void {
    const error = revokedError()
    if (error !== undefined) throw error
  }
}

const passThrough = (_key: PropertyKey, value: unknown) => value
/** Members that the layer shares with the run and could still write to. */
const sharedFields = new Set<PropertyKey>(['state', 'history', 'metadata'])
