import { AlliumError, type Clock, messageOf, type RunEnd } from '@allium/core'
import { type Chain, isThenable } from './chain.ts'
import type { AbortInfo, EndedRun, ErrorInfo, FinishInfo } from './end-info.ts'
import type { HookContext } from './hook-context.ts'

type EndOfRun = RunEnd & Pick<EndedRun, 'duration'>

/**
 * Runs one terminal hook of each object and waits for them until the timeout. All of them run; then their errors are thrown, for
 * the log.
 */
export async function reportEnd(
  chain: Chain,
  ctx: HookContext,
  end: EndOfRun,
  { ms, clock }: { ms: number; clock: Clock },
): Promise<void> {
  const [hook, info] = terminal(ctx, end)
  const errors: unknown[] = []
  let disarm = () => {}
  const timedOut = new Promise<'late'>((resolve) => (disarm = clock.after(ms, () => resolve('late'))))
  for (const { name, call } of chain[hook])
    try {
      const result = call(ctx, info)
      if (isThenable(result) && (await Promise.race([result, timedOut])) === 'late')
        errors.push(notSettled(hook, name, ms))
    } catch (error) {
      errors.push(error)
    }
  disarm()
  if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, messagesOf(hook, errors))
}

function notSettled(hook: string, name: string, ms: number): AlliumError {
  return new AlliumError(
    'layer.timeout',
    `${hook} of "${name}" was still running ${ms} ms after the run ended, so the run no longer waits for it. Move slow work to ctx.defer(), or raise endTimeout in hooks.from().`,
    { details: { layer: name } },
  )
}

function messagesOf(hook: string, errors: readonly unknown[]): string {
  return `${errors.length} ${hook} hooks failed: ${errors.map(messageOf).join('; ')}`
}

export const hasTerminal = ({ onFinish, onAbort, onError }: Chain): boolean =>
  onFinish.length + onAbort.length + onError.length > 0

function terminal(
  ctx: HookContext,
  { status, reason, error, usage, duration }: EndOfRun,
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

/** A status from a newer core is reported as an error instead of an answer. */
function unknown(status: never): never {
  throw new AlliumError(
    'layer.result',
    `A run ended "${status}", which this version of @allium/hooks does not know. Install the same version of @allium/hooks and @allium/core.`,
  )
}
