/**
 * The words of a command line. Quotes, single or double, keep a word together and are taken off; nothing else is special:
 * no variables, no patterns, no pipes.
 *
 * @returns undefined where a quote is not closed
 */
export function splitCommand(line: string): string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (const char of line.trim()) {
    if (quote !== undefined) {
      if (char === quote) quote = undefined
      else word += char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + char
  }
  if (quote !== undefined) return undefined
  if (word !== undefined) words.push(word)
  return words
}
