/**
 * Whether a JSON text has a key twice in one object. A parser keeps the last value alone, but readers of the text see all of them, so
 * such a text must not pass as it is.
 *
 * @param value what the text was parsed to
 */
export function hasDuplicateKeys(text: string, value: unknown): boolean {
  return countQuotes(text) > countQuotes(JSON.stringify(value))
}

/** Those around keys and texts. */
function countQuotes(json: string): number {
  return json.replace(/\\.|[^"]/gs, '').length
}
