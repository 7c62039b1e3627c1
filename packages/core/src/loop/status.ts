import type { RunStatus } from '../events/events.ts'
import type { Turn } from '../rings/turn/turn.ts'

/** How a run ends: the first abort or block wins, then failed, suspended, stopped. */
export function statusOf({ end, stopReason, waits }: Turn): RunStatus {
  if (end !== undefined) return end.kind
  if (waits) return 'suspended'
  return stopReason === undefined ? 'completed' : 'stopped'
}
