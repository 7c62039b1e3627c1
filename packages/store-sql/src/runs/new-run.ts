import { AlliumError, type SessionKey, toJson } from '@allium/core'
import type { NewDurableRun } from '@allium/store'
import { checkName } from '../key.ts'

/** One step of priority counts as this many milliseconds of waiting. */
export const priorityStep = 60_000
/** How many shapes of code a store keeps, about a kilobyte each. A run of older code is not compared with it. */
export const keptShapes = 1000
/** The largest distance of a priority from 0. */
const maxPriority = 1000

/** The largest distance of a JavaScript date from the epoch, in milliseconds. */
const maxTimestamp = 8.64e15

/** @throws AlliumError `run.options` for a time outside of the range of dates */
export function checkRunAt(runAt: number | undefined): void {
  if (runAt === undefined || Math.abs(runAt) <= maxTimestamp) return
  throw new AlliumError(
    'run.options',
    `The option runAt is ${runAt}, which is not a valid time. Pass milliseconds since the epoch, such as Date.parse('2026-11-01').`,
  )
}

/** Returns the queue and the priority of a new run. @throws AlliumError `run.options` for a priority out of range, `store.key` */
export function checkQueue({ queue = 'default', priority = 0 }: Pick<NewDurableRun, 'queue' | 'priority'>): {
  queue: string
  priority: number
} {
  if (Number.isInteger(priority) && Math.abs(priority) <= maxPriority)
    return { queue: checkName('queue', queue), priority }
  throw new AlliumError(
    'run.options',
    `The option priority is ${priority}. Pass a whole number from -${maxPriority} to ${maxPriority}; a smaller number starts earlier.`,
  )
}

export function idempotencyKeyReused({ sessionId }: SessionKey, idempotencyKey: string, run: string): AlliumError {
  return new AlliumError(
    'run.key_reused',
    `The idempotency key "${idempotencyKey}" was already used for another task of the session "${sessionId}". Use a unique key for each task.`,
    { details: { sessionId, run } },
  )
}

export function sessionBusy({ sessionId }: SessionKey, heldUntil: number): AlliumError {
  return new AlliumError(
    'session.busy',
    `The session "${sessionId}" is running a turn. Try again when it has ended. Nothing was started.`,
    { details: { sessionId, heldUntil } },
  )
}

export function notPending({ sessionId }: SessionKey, callIds: readonly string[]): AlliumError {
  const calls = callIds.map((id) => toJson(id)).join(', ')
  return new AlliumError(
    'approval.used',
    `The session "${sessionId}" has no pending call ${calls}. A call can be decided only once. Nothing was started.`,
    { details: { sessionId } },
  )
}
