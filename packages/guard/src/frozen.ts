/** Whether nothing in a message can change, so that what was found out about it stays true: bytes, dates and URLs can. */
export function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (!Object.isFrozen(value) || !(Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype))
    return false
  return Object.values(value).every(isDeepFrozen)
}

/** Freezes what a layer has made anew: a message that could change is copied for each attempt, and is another one then. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value
  Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
