/** Control characters except white space, and characters that change the direction of text. */
const unsafe = /[^\P{Cc}\s]|\p{Bidi_Control}/gu

/**
 * Returns text of a model, a tool or a user with its control characters escaped. Otherwise an escape sequence could color the
 * terminal, clear it, or change its title.
 */
export function printable(text: string): string {
  return text.replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
