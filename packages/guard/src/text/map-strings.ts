/** Returns a JSON-like value with its strings mapped at any depth, and its names with `mapName`; the same object if nothing changed. */
export function mapStrings<T>(value: T, map: (text: string) => unknown, mapName = (name: string) => name): T {
  if (typeof value === 'string') return map(value) as T
  if (typeof value !== 'object' || value === null) return value
  const before = Object.entries(value)
  const entries = before.map(([name, item]) => [mapName(name), mapStrings(item, map, mapName)] as const)
  if (entries.every(([name, item], i) => name === before[i]?.[0] && item === before[i]?.[1])) return value
  return (Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries)) as T
}
