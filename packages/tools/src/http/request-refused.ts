import { AlliumError } from '@allium/core'

/** Returns the error for a forbidden request; the model receives its message. */
export function requestRefused(message: string, cause?: unknown): AlliumError {
  return new AlliumError('http.refused', message, { cause, expose: true })
}
