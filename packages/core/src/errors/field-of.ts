/** Returns a field of a thrown value; undefined if its getter throws. */
export function fieldOf(thrown: unknown, key: string): unknown {
  try {
    return (thrown as Record<string, unknown> | null | undefined)?.[key]
  } catch {
    return undefined
  }
}
