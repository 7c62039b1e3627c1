import { AlliumError } from '@allium/core'

export function runNotFound(run: string): AlliumError {
  return new AlliumError(
    'session.not_found',
    `There is no run "${run}". It may have been deleted after its retention. Check its id and tenant.`,
  )
}
