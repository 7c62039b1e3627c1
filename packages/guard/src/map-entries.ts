/** Returns an object or list with its items mapped, keys unchanged; the same object if nothing changed. */
export async function mapEntries<T extends object>(value: T, map: (item: unknown) => Promise<unknown>): Promise<T> {
  const entries = Object.entries(value)
  let changed = false
  for (const entry of entries) {
    const mapped = await map(entry[1])
    changed ||= mapped !== entry[1]
    entry[1] = mapped
  }
  if (!changed) return value
  return (Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries)) as T
}
