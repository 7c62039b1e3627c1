/** As `guard.pii` writes them: `[EMAIL_1]`. */
const numbered = /\[([A-Z][A-Z0-9_]{0,40})_\d{1,9}\]/g

/**
 * Returns a text with placeholders for personal data as words: `[EMAIL_1]` becomes `[email]`. The number belongs to one session. In
 * another one the same placeholder stands for another person's value.
 */
export function withoutNumbers(text: string): string {
  return text.replace(numbered, (_, type: string) => `[${type.toLowerCase()}]`)
}
