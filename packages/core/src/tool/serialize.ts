import { type PlainRules, toPlain } from '../messages/to-plain.ts'

const rules: PlainRules = {
  error: ({ name, message }) => ({ name, message }),
  bytes: (bytes) => `[${bytes.constructor.name} of ${bytes.byteLength} bytes]`,
  other: (value) => (typeof value === 'symbol' ? value.toString() : `[function ${value.name}]`),
}

/**
 * Any value as a text for the model: JSON where it is JSON, and otherwise the nearest honest thing, always the same
 * for the same value. Only a getter or `toJSON` of the value itself can throw.
 *
 * @param lost called with each value that the model gets as something else, such as a Date
 */
export function serialize(value: unknown, lost?: PlainRules['lost']): string {
  if (typeof value === 'string') return value
  return JSON.stringify(toPlain(value, lost === undefined ? rules : { ...rules, lost }) ?? null)
}
