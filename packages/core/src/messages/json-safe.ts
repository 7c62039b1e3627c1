import { base64Of } from './base64.ts'
import { type PlainRules, toPlain } from './to-plain.ts'

/** The public view of a response. An error shows its code, and its message only if `expose` is set. */
const rules: PlainRules = { error: publicError, bytes: base64Of, other: () => undefined, unreadable: '[unreadable]' }

/**
 * Adds a `toJSON()` to an object, so that JSON.stringify() never throws and exposes no thrown error. The method is not enumerable,
 * so copies and comparisons only see the data.
 */
export function jsonSafe<T extends object>(object: T, toJSON = whole): T & { toJSON(): Record<string, unknown> } {
  return Object.defineProperty(object, 'toJSON', { value: toJSON, writable: true, configurable: true }) as never
}

/** All objects share one function, because V8 adds that faster than a new one for each. */
function whole(this: object): unknown {
  return toPlain({ ...this }, rules)
}

export function withoutError(this: object): unknown {
  return toPlain({ ...this, error: undefined }, rules)
}

/** Whether JSON may show an object as it is. Use it where it can: a method of its own makes an object slow to read. */
export function showsAll(object: object): boolean {
  for (const key in object) if (key === 'error' || typeof object[key as never] !== 'string') return false
  return true
}

function publicError(error: Error): object {
  const { code, expose, message } = error as { code?: unknown; expose?: unknown; message: unknown }
  return {
    ...(typeof code === 'string' && /^[\w.-]{1,64}$/.test(code) && { code }),
    message: expose === true ? String(message) : 'An error.',
  }
}
