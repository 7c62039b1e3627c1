import { delay, type NextFor, type ToolContext, type ToolResult, type ToolResultInput } from '@allium/core'
import { isRecord } from '@allium/core/internal'
import { backoff, isNonRetryable, pause } from '@allium/shared/resilience'
import type { Activity } from './activity.ts'
import type { Command } from './command.ts'
import { wakeTime } from './sleep.ts'
import { textOfValue } from './values.ts'

type Context = ToolContext<{}, unknown>
type Next = NextFor<ToolResult>

/** Runs the command of a call. @param activity knows of it while it runs */
export function runCommand(command: Command, activity: Activity, ctx: Context, next: Next): Promise<ToolResultInput> {
  if (command.kind === 'sleep') return sleep(activity, ctx, next)
  return activity.whileBusy<ToolResultInput>(() =>
    command.kind === 'approval' ? decide(command, ctx, next) : retried(command, ctx, next),
  )
}

/** Each attempt is a step of the journal, so a run that is taken over does not begin to count again. */
async function retried({ retry }: Command, ctx: Context, next: Next): Promise<ToolResult> {
  const { attempts = 3, delay: first = 250, maxDelay = 30_000, when = () => true } = retry ?? { attempts: 1 }
  const options = { delay: first, maxDelay, jitter: 0.5, random: Math.random }
  for (let attempt = 1; ; attempt++) {
    const result = await next()
    if (result.status !== 'error' || attempt >= attempts || ctx.signal.aborted) return result
    const cause = (result.error as { cause?: unknown } | undefined)?.cause
    const mayRetry = () => !isNonRetryable(cause) && when(cause)
    const waiting = await pause(ctx, () => (mayRetry() ? backoff(attempt, options) : undefined))
    if (waiting === undefined) return result
    await waiting.wait()
  }
}

async function decide({ suspend, name }: Command, ctx: Context, next: Next): Promise<ToolResultInput> {
  const { approval } = ctx
  if (approval === undefined) return ctx.suspend(suspend)
  if ('deny' in approval) return ctx.deny(approval.deny)
  const { details } = ctx.args
  ctx.approve()
  await next()
  // Its text would contain a notice for a model if the approver changed the details.
  const decision = { details: isRecord(details) ? details : {}, data: approval.data }
  return { content: textOfValue(decision, `The decision on "${name}"`) }
}

async function sleep(activity: Activity, ctx: Context, next: Next): Promise<ToolResult> {
  const { clock, signal } = ctx
  const until = await ctx.once('wake', () => wakeTime(ctx.args, clock.now()))
  const remaining = until - clock.now()
  if (remaining > 0) await activity.whileSleeping(() => delay(remaining, clock, signal))
  return next()
}
