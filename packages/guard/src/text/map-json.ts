/** Maps a text. A number is passed as text and stays text if it changed. */
export type MapText = (text: string, isNumber?: boolean) => string | Promise<string>

/** Shorter numbers cannot be a value that detectors look for. */
const minDigits = 7

/** Returns a JSON-like value with its texts and numbers mapped at any depth, and its names with `mapName`; the same object if nothing changed. */
export async function mapJson<T>(
  value: T,
  map: MapText,
  mapName?: (name: string) => string | Promise<string>,
): Promise<T> {
  if (typeof value === 'string') return (await map(value)) as T
  if (typeof value === 'number') {
    const text = String(value)
    const mapped = text.length < minDigits ? text : await map(text, true)
    return (mapped === text ? value : mapped) as T
  }
  if (typeof value !== 'object' || value === null) return value
  return mapEntries(value, (item) => mapJson(item, map, mapName), mapName)
}

/** Returns an object or list with its items mapped, and its names with `mapName`; the same object if nothing changed. */
export async function mapEntries<T extends object>(
  value: T,
  map: (item: unknown) => Promise<unknown>,
  mapName?: (name: string) => string | Promise<string>,
): Promise<T> {
  const entries = Object.entries(value)
  let changed = false
  for (const entry of entries) {
    const mapped = await map(entry[1])
    const name = mapName === undefined || Array.isArray(value) ? entry[0] : await mapName(entry[0])
    changed ||= mapped !== entry[1] || name !== entry[0]
    entry[0] = name
    entry[1] = mapped
  }
  if (!changed) return value
  return (Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries)) as T
}
