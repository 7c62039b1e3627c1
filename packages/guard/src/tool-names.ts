/** Whether a tool's name is one of these; `*` stands for any text: `orders.*`, `*_delete`. */
export function namesTool(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => fits(pattern.split('*'), name))
}

/** The texts between the stars, in their order: the first at the beginning, the last at the end. */
function fits(texts: readonly string[], name: string): boolean {
  const [first = '', ...rest] = texts
  const last = rest.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  const end = name.length - last.length
  let at = first.length
  for (const text of rest) {
    const found = name.indexOf(text, at)
    if (found < 0) return false
    at = found + text.length
  }
  return at <= end
}
