import { AlliumError } from '@allium/core'

/** The error of everything that goes wrong with a recording. */
export function recordingError(message: string, details: Record<string, unknown> = {}, cause?: unknown): AlliumError {
  return new AlliumError('test.cassette', message, { details, cause })
}
