/** Parses an answer as JSON, also inside a code fence, as models like to write it. Returns undefined if it is not JSON. */
export function parseJsonAnswer(text: string): unknown {
  const trimmed = text.trim()
  const isFenced = trimmed.startsWith('```') && trimmed.endsWith('```')
  try {
    return JSON.parse(isFenced ? trimmed.slice(trimmed.indexOf('\n') + 1, -3) : trimmed)
  } catch {
    return undefined
  }
}
