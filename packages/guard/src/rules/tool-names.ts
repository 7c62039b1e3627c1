/** Whether a tool's name matches one of these patterns; `*` matches any text: `orders.*`, `*_delete`. */
export function matchesToolName(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern.split('*'), name))
}

/** Matches the texts between the stars in order: the first at the beginning, the last at the end. */
function matchesPattern(texts: readonly string[], name: string): boolean {
  const [first = '', ...rest] = texts
  const last = rest.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  const end = name.length - last.length
  let position = first.length
  for (const text of rest) {
    const index = name.indexOf(text, position)
    if (index < 0) return false
    position = index + text.length
  }
  return position <= end
}
