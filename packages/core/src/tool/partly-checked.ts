/** The warning for a schema with parts that are not checked. */
export function partlyChecked(which: string, unchecked: readonly string[]): string {
  const more = unchecked.length > 5 ? `, and ${unchecked.length - 5} more` : ''
  return `The schema ${which} is checked in part. The model reads all of it, but these parts are not checked: ${unchecked.slice(0, 5).join('; ')}${more}.`
}
