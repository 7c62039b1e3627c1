const numbers = new WeakMap<object, number>()
let lastNumber = 0

/** Returns a key that is equal for equal values. Bytes are compared by identity, because they may be large. */
export function keyOf(value: unknown): string {
  return (
    JSON.stringify(value, (_, value: unknown) => {
      if (typeof value === 'function' || value instanceof AbortSignal || ArrayBuffer.isView(value))
        return `#${numberOf(value)}`
      return typeof value === 'bigint' ? `${value}n` : value
    }) ?? 'undefined'
  )
}

function numberOf(object: object): number {
  const known = numbers.get(object) ?? ++lastNumber
  numbers.set(object, known)
  return known
}
