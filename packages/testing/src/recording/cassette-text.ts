import type { Cassette } from './cassette-data.ts'

/** Formats a cassette as JSON for a repository: whatever fits on one line is on one line, so that a review shows one chunk per line. */
export function cassetteText(cassette: Cassette): string {
  return `${pretty(cassette, '')}\n`
}

const width = 120

function pretty(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const line = JSON.stringify(value)
  if (line.length + indent.length <= width && indent !== '') return line
  const inner = `${indent}  `
  const items = Array.isArray(value)
    ? value.map((item) => inner + pretty(item, inner))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${inner}${JSON.stringify(key)}: ${pretty(item, inner)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return items.length === 0 ? `${open}${close}` : `${open}\n${items.join(',\n')}\n${indent}${close}`
}
