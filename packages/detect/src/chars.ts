// Classes of UTF-16 units, for detectors that go through a text by themselves.

export const isDigit = (code: number): boolean => code >= 48 && code <= 57
export const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
export const isWord = (code: number): boolean => isDigit(code) || isLetter(code)

/** Where the run of such characters begins that ends at a place, after `most` of them at the latest. */
export function runStart(text: string, end: number, maxLength: number, accepts: (code: number) => boolean): number {
  const limit = Math.max(0, end - maxLength)
  let at = end
  while (at > limit && accepts(text.charCodeAt(at - 1))) at--
  return at
}

/** The end of the run of such characters, after `most` of them at the latest. */
export function runEnd(text: string, from: number, maxLength: number, accepts: (code: number) => boolean): number {
  const limit = Math.min(text.length, from + maxLength)
  let at = from
  while (at < limit && accepts(text.charCodeAt(at))) at++
  return at
}
