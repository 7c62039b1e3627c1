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
