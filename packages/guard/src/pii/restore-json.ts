/**
 * Returns a JSON-like value with its placeholders restored. A placeholder of a number becomes a number. Returns the same object if nothing
 * changed.
 */
export function restoreJson<T>(value: T, restore: (text: string) => string, isNumber: (name: string) => boolean): T {
  if (typeof value === 'string') {
    const restored = restore(value)
    return (isNumber(value) && restored !== value ? Number(restored) : restored) as T
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, one]) => [key, restoreJson(one, restore, isNumber)] as const)
  if (entries.every(([key, one]) => one === (value as Record<string, unknown>)[key])) return value
  return (Array.isArray(value) ? entries.map(([, one]) => one) : Object.fromEntries(entries)) as T
}
