/** Controls but for white space, and the marks that turn the writing direction. */
const unsafe = /[^\P{Cc}\s]|\p{Bidi_Control}/gu

/**
 * Text of a model, a tool or a user with its control characters written out. Raw, an escape sequence could colour the
 * terminal, clear it or change its title.
 */
export function printable(text: string): string {
  return text.replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
