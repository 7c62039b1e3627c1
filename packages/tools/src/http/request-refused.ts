import { AlliumError } from '@allium/core'

/** What may not be done, told to the model as it is. */
export function requestRefused(message: string, cause?: unknown): AlliumError {
  return new AlliumError('http.refused', message, { cause, expose: true })
}
