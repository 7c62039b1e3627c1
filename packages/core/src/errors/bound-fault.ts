import { AlliumError } from './allium-error.ts'
import type { ErrorCode } from './codes.ts'
import { describe } from './describe.ts'

/** Returns the error for an invalid time limit in milliseconds, or undefined for a valid one. `false` means no limit. */
export function boundFault(option: string, value: unknown, code: ErrorCode): AlliumError | undefined {
  if (value === false || (typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY)) return undefined
  return new AlliumError(
    code,
    `The option ${option} is a number of milliseconds above 0, or false, not ${describe(value)}.`,
  )
}
