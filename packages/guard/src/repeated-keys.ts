/**
 * Whether a JSON text has a key twice in one object. A parser keeps the last value alone, but readers of the text see all of them, so
 * such a text must not pass as it is.
 *
 * @param value what the text was parsed to
 */
export function repeatsKeys(text: string, value: unknown): boolean {
  return writtenStrings(text) > stringsIn(value)
}

const [quote, backslash] = [0x22, 0x5c]

function writtenStrings(text: string): number {
  let quotes = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === backslash) at++
    else if (code === quote) quotes++
  }
  return quotes / 2
}

/** Keys count too. */
function stringsIn(value: unknown): number {
  if (typeof value === 'string') return 1
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value).reduce((sum: number, one) => sum + stringsIn(one), 0)
  return Array.isArray(value) ? inner : inner + Object.keys(value).length
}
