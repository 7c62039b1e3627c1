/** The same context with other values for some fields; all else, writes included, goes to the context itself. */
export function withFields<T extends object>(ctx: T, fields: Partial<T>): T {
  return new Proxy(ctx, {
    get(target, key) {
      if (Object.hasOwn(fields, key)) return fields[key as keyof T]
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
    set: (target, key, value) => Reflect.set(target, key, value, target),
  })
}
