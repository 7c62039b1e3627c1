/** The length of the longest text of a report. */
const longest = 2_000

/** Returns a value as a text for reports. */
export function textOf(value: unknown): string | undefined {
  if (value === undefined) return undefined
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length} characters)`
}
