import type { RunStatus } from '@allium/core'
import { eventsOf, fieldsOf, topLevelEvents, wrongReceiver } from './received.ts'

/** How a run ended. */
export interface RunEnd {
  status: RunStatus
  reason: string | undefined
}

const statuses: Record<RunStatus, true> = {
  completed: true,
  stopped: true,
  blocked: true,
  suspended: true,
  aborted: true,
  failed: true,
}

/**
 * Returns how a run ended, from its result, its events, the result of `runLayer`, or the error that it rejected with.
 *
 * @throws TypeError for anything else, such as a run that was not awaited
 */
export function runEnd(source: unknown): RunEnd {
  const { status, reason, result, error } = fieldsOf(source)
  if (typeof status === 'string' && Object.hasOwn(statuses, status))
    return { status: status as RunStatus, reason: reason as string | undefined }
  if (source instanceof Error) return endOfError(source)
  const end = topLevelEvents(eventsOf(source) ?? []).findLast((event) => event.type === 'turn:end')
  if (end?.type === 'turn:end') return { status: end.status, reason: end.reason }
  if (result !== undefined) return runEnd(result)
  if (error !== undefined) return runEnd(error)
  throw wrongReceiver('a result, events with a turn:end, or the error of a run', source)
}

function endOfError(error: Error): RunEnd {
  return { status: error.name === 'AbortError' ? 'aborted' : 'failed', reason: error.message }
}
