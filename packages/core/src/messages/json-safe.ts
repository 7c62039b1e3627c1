import { base64Of } from './base64.ts'
import { type PlainRules, toPlain } from './to-plain.ts'

/** What whoever reads a response may see: of an error its code, and its message where it says that this may be shown. */
const rules: PlainRules = {
  error: publicError,
  bytes: base64Of,
  other: () => undefined,
  unreadable: '[unreadable]',
}

/**
 * Gives an object a `toJSON()`, so that JSON.stringify() of it never throws and shows nothing that was thrown. It is not
 * enumerable: copies and comparisons see the data alone.
 *
 * @param hidden the field that JSON leaves out
 */
export function jsonSafe<T extends object>(object: T, hidden?: keyof T): T & { toJSON(): Record<string, unknown> } {
  const toJSON = () => toPlain(hidden === undefined ? { ...object } : { ...object, [hidden]: undefined }, rules)
  return Object.defineProperty(object, 'toJSON', { value: toJSON, writable: true, configurable: true }) as never
}

function publicError(error: Error): object {
  const { code, expose, message } = error as { code?: unknown; expose?: unknown; message: unknown }
  return {
    ...(typeof code === 'string' && /^[\w.-]{1,64}$/.test(code) && { code }),
    message: expose === true ? String(message) : 'An error.',
  }
}
