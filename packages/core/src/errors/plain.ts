/** Whether a value is an object literal, of whichever realm, or one without a prototype. Instances of classes are not. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
}
