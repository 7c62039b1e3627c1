import { unsafe } from './one-line.ts'
import { toPlainData } from './plain-data.ts'

/** Any value as one line of JSON: nothing in it can break the line or reach a terminal, and it reads back as it was. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(toPlainData(value)).replace(unsafe, escaped)
}

function escaped(char: string): string {
  let text = ''
  for (let at = 0; at < char.length; at++) text += `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`
  return text
}
