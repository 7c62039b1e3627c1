import { AlliumError } from '@allium/core'

/** The error of an option of `durable()` or `schedules()`. */
export function agentOptionsError(message: string): AlliumError {
  return new AlliumError('agent.options', message)
}

/** The error of an option of a run or of a schedule. */
export function runOptionsError(message: string, cause?: unknown): AlliumError {
  return new AlliumError('run.options', message, { cause })
}
