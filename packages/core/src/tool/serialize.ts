import { type PlainRules, toPlain } from '../messages/to-plain.ts'

const rules: PlainRules = {
  error: ({ name, message }) => ({ name, message }),
  bytes: (bytes) => `[${bytes.constructor.name} of ${bytes.byteLength} bytes]`,
  other: (value) => (typeof value === 'symbol' ? value.toString() : `[function ${value.name}]`),
}

/**
 * Serializes any value as text for the model: JSON if possible, otherwise the closest faithful text. Equal values give equal
 * text. Only a getter or `toJSON` of the value itself can throw.
 *
 * @param lost called with each value that the model receives in another form, such as a Date
 */
export function serialize(value: unknown, lost?: PlainRules['lost']): string {
  if (typeof value === 'string') return value
  return JSON.stringify(toPlain(value, lost === undefined ? rules : { ...rules, lost }) ?? null)
}
