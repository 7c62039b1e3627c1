/** Control characters, line breaks, marks that turn the writing direction, and halves of a character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is escaped
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/gu

/** Any text as one line for a terminal or a log: nothing in it can break the line or colour the screen. */
export function oneLine(text: string, max = 200): string {
  const cut = text.length > max ? `${text.slice(0, max - 1)}…` : text
  return cut.replace(unsafe, escaped)
}

function escaped(char: string): string {
  const short = ({ '\n': '\\n', '\r': '\\r', '\t': '\\t' } as Record<string, string>)[char]
  return short ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}
