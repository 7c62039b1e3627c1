const numbers = new WeakMap<object, number>()
let lastNumber = 0

/** Returns a key that is equal for equal values. Bytes are compared by identity, because they may be large. */
export function keyOf(value: unknown): string {
  return (
    JSON.stringify(value, (_, field: unknown) => {
      if (typeof field === 'function' || field instanceof AbortSignal || ArrayBuffer.isView(field))
        return `#${numberOf(field)}`
      return typeof field === 'bigint' ? `${field}n` : field
    }) ?? 'undefined'
  )
}

function numberOf(object: object): number {
  const known = numbers.get(object) ?? ++lastNumber
  numbers.set(object, known)
  return known
}
