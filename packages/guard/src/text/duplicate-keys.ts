/**
 * Whether a JSON text has a duplicate key in one object. A parser keeps only the last value, but readers of the text see all of
 * them, so such a text must not pass unchanged.
 *
 * @param value the parsed text
 */
export function hasDuplicateKeys(text: string, value: unknown): boolean {
  return countQuotes(text) > countQuotes(JSON.stringify(value))
}

/** The quotes around keys and strings. */
function countQuotes(json: string): number {
  return json.replace(/\\.|[^"]/gs, '').length
}
