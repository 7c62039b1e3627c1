/** Whether JSON shows nothing of an object, as of a stream, an iterator, a promise or a response. */
export function isOpaque(value: object): boolean {
  return Symbol.asyncIterator in value || (!isPlain(value) && Object.keys(value).length === 0)
}

/** Whether a value is an object literal, of any realm, or has no prototype. Class instances are not plain. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
}
