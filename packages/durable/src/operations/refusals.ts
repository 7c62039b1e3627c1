import type { RunDescription, RunSummary } from '@allium/store'

/** Why a run cannot be retried: it did not fail, its failed turn is in the session, or a later run or turn has changed the session. */
export type RetryRefusal = 'not_failed' | 'turn_stored' | 'session_changed'

/** The result of `retry()`. */
export interface RetryResult {
  readonly queued: boolean
  /** Why it was not queued. */
  readonly refusal?: RetryRefusal
  /** The refusal as a sentence, with the next step. */
  readonly reason?: string
}

export function refusalOf({ run, usage }: Pick<RunDescription, 'run' | 'usage'>): RetryResult {
  if (run.status !== 'failed')
    return refused('not_failed', `The run is ${run.status}, and only failed runs can be retried.`)
  if (usage !== undefined)
    return refused(
      'turn_stored',
      'The failed turn is stored in the session, so its steps are gone. Start the run again as a new one.',
    )
  return refused(
    'session_changed',
    'A later run or turn has changed the session since the run failed. Start the run again as a new one.',
  )
}

function refused(refusal: RetryRefusal, reason: string): RetryResult {
  return { queued: false, refusal, reason }
}

/** The runs whose status allows an action. */
export const changeable: Readonly<Record<'stop' | 'forceStop' | 'retry' | 'migrate', readonly RunSummary['status'][]>> =
  {
    stop: ['queued', 'running', 'lost'],
    forceStop: ['queued', 'running', 'lost'],
    retry: ['failed'],
    migrate: ['queued', 'lost', 'failed'],
  }
