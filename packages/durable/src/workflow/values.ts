import { AlliumError, fromJson, messageOf, toJson } from '@allium/core'

/** Most characters of one stored value. */
const maxLength = 1_000_000

/**
 * Serializes a value that a replay must return unchanged. Undefined has no text.
 *
 * @param what the subject of the error message
 * @throws AlliumError `state.invalid`
 */
export function textOfValue(value: unknown, what: string): string {
  if (value === undefined) return ''
  let text: string
  try {
    text = toJson(value)
  } catch (cause) {
    throw invalid(`${what} cannot be stored. ${messageOf(cause)} Return plain data.`, cause)
  }
  if (text.length <= maxLength) return text
  throw invalid(
    `${what} has ${text.length} characters as JSON, and at most ${maxLength} are stored. Store it elsewhere, and return its key.`,
  )
}

/** Restores a value from the text of {@link textOfValue}. */
export function valueOfText(text: string): unknown {
  return text === '' ? undefined : fromJson(text)
}

function invalid(message: string, cause?: unknown): AlliumError {
  return new AlliumError('state.invalid', message, { cause, expose: true })
}
