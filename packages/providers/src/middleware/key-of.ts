const numbers = new WeakMap<object, number>()
let last = 0

/** Tells values apart: two of one key say the same. Bytes are told by their object, since there may be many. */
export function keyOf(value: unknown): string {
  return (
    JSON.stringify(value, (_, each: unknown) => {
      if (typeof each === 'function' || each instanceof AbortSignal || ArrayBuffer.isView(each))
        return `#${numberOf(each)}`
      return typeof each === 'bigint' ? `${each}n` : each
    }) ?? 'undefined'
  )
}

function numberOf(object: object): number {
  const known = numbers.get(object) ?? ++last
  numbers.set(object, known)
  return known
}
