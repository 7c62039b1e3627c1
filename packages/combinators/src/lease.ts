import type { AnyContext } from './combine.ts'

/** A context that can be taken back: from then on its verbs and writes throw, and its signal is aborted. */
export function lease(ctx: AnyContext, over: () => Error | undefined): { ctx: AnyContext; end(error: Error): void } {
  const controller = new AbortController()
  let signal: AbortSignal | undefined
  const leased = guarded(ctx, (key, value) => {
    if (key === 'signal' && value !== undefined)
      return (signal ??= AbortSignal.any([value as AbortSignal, controller.signal]))
    return shared.has(key) && typeof value === 'object' && value !== null ? guarded(value) : value
  })
  return { ctx: leased, end: (error) => controller.abort(error) }

  function guarded<T extends object>(given: T, field: (key: PropertyKey, value: unknown) => unknown = same): T {
    return new Proxy(given, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target)
        if (typeof value !== 'function') return field(key, value)
        return (...args: unknown[]) => {
          check()
          return value.apply(target, args)
        }
      },
      set(target, key, value) {
        check()
        return Reflect.set(target, key, value, target)
      },
      deleteProperty(target, key) {
        check()
        return Reflect.deleteProperty(target, key)
      },
    })
  }

  function check(): void {
    const error = over()
    if (error !== undefined) throw error
  }
}

const same = (_key: PropertyKey, value: unknown) => value
/** What the layer shares with the run, and could still write to. */
const shared = new Set<PropertyKey>(['state', 'history', 'metadata'])
