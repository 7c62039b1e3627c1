/**
 * Whether a JSON text has a key twice in one object. A parser keeps the last value alone, but readers of the text see all of them, so
 * such a text must not pass as it is.
 *
 * @param value what the text was parsed to
 */
export function repeatsKeys(text: string, value: unknown): boolean {
  return quotesIn(text) > quotesIn(JSON.stringify(value))
}

/** Those around keys and texts. */
function quotesIn(json: string): number {
  return json.replace(/\\.|[^"]/gs, '').length
}
