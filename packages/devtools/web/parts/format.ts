import type { Tokens } from '../store/sessions.ts'

/** Returns a duration for people: `3 ms`, `1.2 s`. */
export function duration(ms: number | undefined): string {
  if (ms === undefined) return '…'
  if (ms < 1) return '<1 ms'
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
}

/** Returns a number with its noun: `1 span`, `2,000 spans`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString()} ${noun}${number === 1 ? '' : 's'}`
}

export function money(usd: number): string {
  if (usd < 0.000001) return usd > 0 ? '<$0.000001' : '$0'
  return `$${usd < 0.01 ? usd.toFixed(6).replace(/0+$/, '') : usd.toFixed(2)}`
}

export function clock(ms: number): string {
  return new Date(ms).toLocaleTimeString(undefined, { hour12: false })
}

/** Returns a value as text: a text as it is, anything else as indented JSON. Bidirectional controls are escaped. */
export function pretty(value: unknown, indent = 2): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, undefined, indent) ?? 'undefined')
  // A character that overrides the direction of text would reorder the rest of its row.
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (control) => `\\u${control.charCodeAt(0).toString(16)}`)
}

/** Returns a value as one short line. */
export function brief(value: unknown, length = 160): string {
  const text = pretty(value, 0)
  return text.length > length ? `${text.slice(0, length)}…` : text
}

export function tokens({ inputTokens, outputTokens, cachedInputTokens }: Omit<Tokens, 'calls'>): string {
  const cached = cachedInputTokens === undefined ? '' : ` (${cachedInputTokens.toLocaleString()} cached)`
  return `${inputTokens.toLocaleString()} in${cached}, ${outputTokens.toLocaleString()} out`
}
