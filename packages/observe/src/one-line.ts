/** Control characters, line breaks, invisible and bidirectional marks, and lone surrogates. */
export const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** Most texts match this and skip the slower search by Unicode properties. */
const plainText = /^[\x20-\x7e]*$/

/** Returns a text as one line for a terminal or a log. It cannot break the line, color the screen or hide text. */
export function oneLine(text: string, max = 200): string {
  const cut = text.length > max ? `${text.slice(0, max - 1)}…` : text
  return plainText.test(cut) ? cut : cut.replace(unsafe, escaped)
}

function escaped(char: string): string {
  const short = ({ '\n': '\\n', '\r': '\\r', '\t': '\\t' } as Record<string, string>)[char]
  if (short !== undefined) return short
  const code = (char.codePointAt(0) as number).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
}
