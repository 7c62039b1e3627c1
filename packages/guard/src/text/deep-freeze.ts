/** Whether a message is deeply immutable, so that cached findings stay valid. Bytes, dates and URLs are mutable. */
export function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (!Object.isFrozen(value) || !(Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype))
    return false
  return Object.values(value).every(isDeepFrozen)
}

/** Freezes a message that a layer created. A mutable message is copied for each attempt, and a copy would miss the caches. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value
  Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
