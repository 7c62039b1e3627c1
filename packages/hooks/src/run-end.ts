import { AlliumError, type RunEnd, type Usage } from '@allium/core'
import type { Chain } from './chain.ts'
import type { HookContext } from './hook-context.ts'

interface Ended {
  readonly usage: Usage
  /** Milliseconds since the run started. */
  readonly duration: number
}

/** What the run came to. */
export interface FinishInfo extends Ended {
  readonly status: Exclude<RunEnd['status'], 'aborted' | 'failed'>
  /** Why it was stopped or blocked. */
  readonly reason: string | undefined
  /** The answer. */
  readonly text: string
}
export interface AbortInfo extends Ended {
  /** What `abort(reason)` was given. */
  readonly reason: unknown
}
export interface ErrorInfo extends Ended {
  readonly error: unknown
}

/** Runs the one terminal hook of each object. All of them run; then the errors are thrown, for the log. */
export async function tellEnd(chain: Chain, ctx: HookContext, end: RunEnd, duration: number): Promise<void> {
  const [hook, info] = terminal(ctx, end, duration)
  const errors: unknown[] = []
  for (const { call } of chain[hook])
    try {
      await call(ctx, info)
    } catch (error) {
      errors.push(error)
    }
  if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, `${hook} hooks failed`)
}

export const hasTerminal = ({ onFinish, onAbort, onError }: Chain): boolean =>
  onFinish.length + onAbort.length + onError.length > 0

function terminal(
  ctx: HookContext,
  { status, reason, error, usage }: RunEnd,
  duration: number,
): ['onFinish', FinishInfo] | ['onAbort', AbortInfo] | ['onError', ErrorInfo] {
  switch (status) {
    case 'failed':
      return ['onError', { usage, duration, error }]
    case 'aborted':
      return ['onAbort', { usage, duration, reason: (error as { reason?: unknown }).reason ?? reason }]
    case 'completed':
    case 'stopped':
    case 'blocked':
    case 'suspended':
      return ['onFinish', { usage, duration, status, reason, text: ctx.output ?? '' }]
    default:
      return unknown(status)
  }
}

/** A way to end that a newer core knows is told as an error: rather that than as an answer. */
function unknown(status: never): never {
  throw new AlliumError('layer.result', `A run ended "${status}", which this version of @allium/hooks does not know.`)
}
