/**
 * Splits a command line into words. Single or double quotes keep a word together and are removed. Nothing else is special:
 * no variables, no patterns, no pipes.
 *
 * @returns undefined when a quote is not closed
 */
export function splitCommand(line: string): string[] | undefined {
  const parts: string[] = []
  let part: string | undefined
  let quote: string | undefined
  for (const char of line.trim()) {
    if (quote !== undefined) {
      if (char === quote) quote = undefined
      else part += char
    } else if (char === '"' || char === "'") {
      quote = char
      part ??= ''
    } else if (/\s/.test(char)) {
      if (part !== undefined) parts.push(part)
      part = undefined
    } else part = (part ?? '') + char
  }
  if (quote !== undefined) return undefined
  if (part !== undefined) parts.push(part)
  return parts
}
