import { AlliumError } from '../errors/allium-error.ts'
import type { BlockError } from '../errors/block-error.ts'
import { messageOf } from '../errors/describe.ts'
import type { RunStatus } from '../events/events.ts'
import type { Turn } from '../rings/turn/turn.ts'

/** Returns why a run was stopped or ended early. */
export function reasonOf({ end, stopReason, isSuspended }: Turn): string | undefined {
  if (end === undefined) return isSuspended ? undefined : stopReason
  return end.kind === 'blocked' ? (end.error as BlockError).reason : messageOf(end.error)
}

/**
 * Returns the reason to store. For errors that are not Allium's it is only the class name, because their messages may
 * contain anything.
 */
export function storedReasonOf(turn: Turn): string | undefined {
  const { end } = turn
  if (end === undefined || end.kind === 'blocked' || end.error instanceof AlliumError) return reasonOf(turn)
  return (end.error as { name?: unknown } | undefined)?.name === undefined
    ? undefined
    : String((end.error as Error).name)
}

/** Returns the code of the error that ended the run. */
export function codeOf({ end }: Turn): string | undefined {
  const code = (end?.error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

/** Returns the status of a run. The first abort or block wins, then failed, suspended, stopped. */
export function statusOf({ end, stopReason, isSuspended }: Turn): RunStatus {
  if (end !== undefined) return end.kind
  if (isSuspended) return 'suspended'
  return stopReason === undefined ? 'completed' : 'stopped'
}
