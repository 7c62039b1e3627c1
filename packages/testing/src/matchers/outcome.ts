/** The result of a matcher for `expect.extend`, the same in vitest and jest. */
export interface Outcome {
  pass: boolean
  message(): string
  actual?: unknown
  expected?: unknown
}

interface OutcomeParts {
  /** The message when it should have passed. */
  fails: string
  /** The message when it passed after `.not`. */
  negated: string
  /** Shown as a diff. */
  actual?: unknown
  expected?: unknown
}

/** Returns an outcome with the matching message. */
export function outcome(pass: boolean, { fails, negated, ...sides }: OutcomeParts): Outcome {
  return { pass, message: () => (pass ? negated : fails), ...sides }
}

/** Formats a value in one line of a message. */
export function show(value: unknown): string {
  if (value instanceof RegExp || value === undefined) return String(value)
  return short(JSON.stringify(value, (_, item) => toPrintable(item)) ?? String(value), 300)
}

export function short(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
}

/** Formats a heading and its items, one per line. */
export function list(heading: string, items: readonly string[]): string {
  const lines = items.slice(-20).map((item, i) => `  ${items.length - Math.min(items.length, 20) + i + 1}. ${item}`)
  return items.length === 0 ? `${heading}: none` : `${heading} (${items.length}):\n${lines.join('\n')}`
}

/** Whether a text contains or matches a pattern. */
export function matchesText(text: string, pattern: string | RegExp): boolean {
  return typeof pattern === 'string' ? text.includes(pattern) : text.search(pattern) >= 0
}

/** Matchers such as expect.any(Number) describe themselves. */
function toPrintable(item: unknown): unknown {
  if (item instanceof RegExp) return String(item)
  const { toAsymmetricMatcher } = (item ?? {}) as { toAsymmetricMatcher?: () => string }
  return typeof toAsymmetricMatcher === 'function' ? toAsymmetricMatcher.call(item) : item
}
