import { AlliumError } from '@allium/core'
import { describe } from '@allium/core/internal'

/** Most characters of a name, a reason or a cursor. */
export const maxText = 2000

/** @throws AlliumError `run.options` if the number is not a whole one from 1 to `max` */
export function bounded(name: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value
  throw invalid(name, `a whole number from 1 to ${max}`, value)
}

/** @throws AlliumError `run.options` if the value is not a text of 1 to 2000 characters */
export function text(name: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= maxText) return value
  throw invalid(name, `a text of 1 to ${maxText} characters`, value)
}

/** Control characters, lone surrogates and changes of the text direction, with which a record would not show what it says. */
const hidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u

/** A text for the audit and for logs. @throws AlliumError `run.options` */
export function plainText(name: string, value: unknown): string {
  const plain = text(name, value)
  if (!hidden.test(plain)) return plain
  throw new AlliumError(
    'run.options',
    `The ${name} must be one line without control characters and changes of the text direction. Remove them.`,
  )
}

export function invalid(name: string, expected: string, value: unknown): AlliumError {
  return new AlliumError('run.options', `The ${name} must be ${expected}, but ${describe(value)} was given.`)
}
