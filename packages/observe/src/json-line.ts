import { unsafe } from './one-line.ts'
import { plainJson } from './plain-data.ts'

/** Returns any value as one line of JSON. It cannot break the line or control a terminal, and parses back to the same value. */
export function jsonLine(value: unknown): string {
  return plainJson(value).replace(unsafe, escaped)
}

function escaped(char: string): string {
  let text = ''
  for (let at = 0; at < char.length; at++) text += `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`
  return text
}
