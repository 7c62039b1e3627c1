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

/** Returns a copy of a recorded result, which a layer may change. The error of a tool is an error again. */
export function copyOfResult(result: unknown): unknown {
  const copy = structuredClone(result) as { error?: unknown } | undefined
  const { error } = (copy ?? {}) as { error?: { name?: unknown; message?: unknown } }
  if (typeof error?.message !== 'string' || typeof error.name !== 'string') return copy
  return { ...copy, error: errorOf(error as Parameters<typeof errorOf>[0]) }
}

function detailsIn(more: object): { details?: Record<string, unknown> } {
  const { details } = more as { details?: Record<string, unknown> }
  return details === undefined ? {} : { details }
}

function isCode(code: unknown): code is ErrorCode {
  return (errorCodes as readonly unknown[]).includes(code)
}
