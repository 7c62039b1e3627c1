import { isDigit, isWord, runStart } from '@allium/detect'

/** A run of digits. */
export interface DigitGroup {
  readonly digits: string
  readonly length: number
  readonly end: number
}

/** Returns up to `maxGroups` groups of digits with the same single space, dash or dot between them. */
export function groupsAt(text: string, start: number, maxGroups: number): DigitGroup[] {
  const groups: DigitGroup[] = []
  let at = start
  let separator: number | undefined
  while (groups.length < maxGroups) {
    const from = at
    while (isDigit(text.charCodeAt(at)) && at - from < 20) at++
    if (at === from || isDigit(text.charCodeAt(at))) return groups
    groups.push({ digits: text.slice(from, at), length: at - from, end: at })
    const next = text.charCodeAt(at)
    if (separator === undefined ? next !== 32 && next !== 45 && next !== 46 : next !== separator) return groups
    separator = next
    at++
  }
  return groups
}

/** Whether the digits at this position continue a number: `0.4111…`, `1,234…`. */
export function continuesNumber(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  return (before === 46 || before === 44) && isDigit(text.charCodeAt(at - 2))
}

/** Returns the start of the digits and separators at the end of a text. */
export function partialNumberStart(text: string): number {
  let at = runStart(text, text.length, 64, (code) => isDigit(code) || code === 32 || code === 45 || code === 46)
  while (at < text.length && (!isDigit(text.charCodeAt(at)) || isWord(text.charCodeAt(at - 1)))) at++
  return at
}
