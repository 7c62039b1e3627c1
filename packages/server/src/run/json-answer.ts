/** The JSON that an answer is; models like to put it into a code fence. Undefined where it is none. */
export function parseJsonAnswer(text: string): unknown {
  const trimmed = text.trim()
  const isFenced = trimmed.startsWith('```') && trimmed.endsWith('```')
  try {
    return JSON.parse(isFenced ? trimmed.slice(trimmed.indexOf('\n') + 1, -3) : trimmed)
  } catch {
    return undefined
  }
}
