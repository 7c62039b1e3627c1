// Classes of UTF-16 units, for detectors that scan a text themselves.

export const isDigit = (code: number): boolean => code >= 48 && code <= 57
export const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
export const isWord = (code: number): boolean => isDigit(code) || isLetter(code)

/** Returns the start of the run of accepted characters that ends at a position, at most `maxLength` before it. */
export function runStart(text: string, end: number, maxLength: number, accepts: (code: number) => boolean): number {
  const limit = Math.max(0, end - maxLength)
  let at = end
  while (at > limit && accepts(text.charCodeAt(at - 1))) at--
  return at
}

/** Returns the end of the run of accepted characters, at most `maxLength` after `from`. */
export function runEnd(text: string, from: number, maxLength: number, accepts: (code: number) => boolean): number {
  const limit = Math.min(text.length, from + maxLength)
  let at = from
  while (at < limit && accepts(text.charCodeAt(at))) at++
  return at
}
