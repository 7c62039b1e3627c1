import { AlliumError, type ErrorCode, errorCodes } from '@allium/core'
import type { RecordedStep } from '../recorded-turn.ts'

/** Returns an error with what a recording keeps of one: its name, message, code and status. */
export function errorOf({ name, message, code, status, ...more }: NonNullable<RecordedStep['error']>): Error {
  if (name === 'AlliumError' && isCode(code)) return new AlliumError(code, message, detailsIn(more))
  const error = new Error(message)
  return Object.assign(error, {
    ...more,
    ...(name !== 'Error' && { name }),
    ...(code !== undefined && { code }),
    ...(status !== undefined && { status }),
  })
}

/** Whether the step was cancelled: with its run, or because a layer abandoned it. Then it has no outcome of its own. */
export function isCancelled({ error }: RecordedStep): boolean {
  return error?.name === 'AbortError' || error?.name === 'LeftError'
}

function detailsIn(more: object): { details?: Record<string, unknown> } {
  const { details } = more as { details?: Record<string, unknown> }
  return details === undefined ? {} : { details }
}

function isCode(code: unknown): code is ErrorCode {
  return (errorCodes as readonly unknown[]).includes(code)
}
