import type { RunStatus } from '../events/events.ts'
import type { Turn } from '../rings/turn/turn.ts'

/** Returns the status of a run. The first abort or block wins, then failed, suspended, stopped. */
export function statusOf({ end, stopReason, isSuspended }: Turn): RunStatus {
  if (end !== undefined) return end.kind
  if (isSuspended) return 'suspended'
  return stopReason === undefined ? 'completed' : 'stopped'
}
