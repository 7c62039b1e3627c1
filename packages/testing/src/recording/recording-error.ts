import { AlliumError } from '@allium/core'

/** Creates the error for any problem with a recording. */
export function recordingError(message: string, details: Record<string, unknown> = {}, cause?: unknown): AlliumError {
  return new AlliumError('test.cassette', message, { details, cause })
}
