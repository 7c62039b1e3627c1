import { isDigit, isWord, runStart } from '@allium/shared/detect'

/** A run of digits. */
export interface DigitGroup {
  readonly digits: string
  readonly length: number
  readonly end: number
}

/** Returns up to `maxGroups` groups of digits with the same one to three spaces, tabs, line breaks, dashes, dots or underscores between them. */
export function groupsAt(text: string, start: number, maxGroups: number): DigitGroup[] {
  const groups: DigitGroup[] = []
  let at = start
  let separator: string | undefined
  while (groups.length < maxGroups) {
    const from = at
    while (isDigit(text.charCodeAt(at)) && at - from < 20) at++
    if (at === from || isDigit(text.charCodeAt(at))) return groups
    groups.push({ digits: text.slice(from, at), length: at - from, end: at })
    separator ??= /^[ \t\r\n._-]{1,3}/.exec(text.slice(at, at + 3))?.[0]
    if (separator === undefined || !text.startsWith(separator, at)) return groups
    at += separator.length
  }
  return groups
}

/** Whether the digits at this position continue a number: `0.4111…`, `1,234…`. */
export function continuesNumber(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  return (before === 46 || before === 44) && isDigit(text.charCodeAt(at - 2))
}

/** A space, a tab, line breaks, a dash, a dot and an underscore. */
const separators = [32, 9, 10, 13, 45, 46, 95]

/** Returns the start of the digits and separators at the end of a text. */
export function partialNumberStart(text: string): number {
  let at = runStart(text, text.length, 64, (code) => isDigit(code) || separators.includes(code))
  while (at < text.length && (!isDigit(text.charCodeAt(at)) || isWord(text.charCodeAt(at - 1)))) at++
  return at
}
