import { AlliumError, isAlliumError, type ToolResultPart } from '@allium/core'
import { resultText } from '@allium/core/internal'
import type { Command, CommandRequest } from './command.ts'
import type { Batch } from './recorded.ts'

/** Returns the error that `run()` gets from a command that failed. The message of the cause is in the log. */
export function failedCommand(name: string, { content }: ToolResultPart): AlliumError {
  return new AlliumError('run.failed', resultText(content), { details: { step: name }, expose: true })
}

/** Returns the error of a step whose function threw. Its message does not contain that of the cause, which may be secret. */
export function stepFailed({ kind, name }: Command, cause: unknown): AlliumError {
  const isExposed = isAlliumError(cause) && cause.expose
  return new AlliumError('run.failed', isExposed ? cause.message : `The ${kind} "${name}" failed.`, {
    cause,
    expose: true,
  })
}

/** Returns the error for code that does not request what the recording has. */
export function changedCode({ calls }: Batch, open: readonly Command[], hasEnded: boolean): AlliumError {
  const recorded = calls.map(({ callId }) => callId)
  const requested = open.map(({ key }) => key)
  const now = hasEnded ? 'the workflow ends' : `the code requests ${listOf(requested)}`
  return new AlliumError(
    'journal.diverged',
    `The run has recorded ${listOf(recorded)} here, but now ${now}, so an effect would be lost or repeated. Nothing was run. Continue the run with the code that began it, then retry it. To change the steps, give the workflow a new version, and keep a process with the former one for its runs.`,
    { details: { recorded, requested, differs: ['steps'] }, expose: true },
  )
}

/** Returns the error for a `run()` that ended without the results of its steps. */
export function notAwaited(open: readonly Command[]): AlliumError {
  const keys = open.map(({ key }) => key)
  return new AlliumError(
    'run.failed',
    `run() ended before it had the result of ${listOf(keys)}, which therefore did not run. Await every step, alone or in ctx.all().`,
    { details: { steps: keys } },
  )
}

/** Returns the error for a request that does not come from `run()`, or comes after an await that is not replayed. */
export function requestedInside({ kind, name }: CommandRequest, running: readonly Command[]): AlliumError {
  return new AlliumError(
    'run.failed',
    `ctx.${kind}("${name}") was called while ${listOf(running.map(({ key }) => key))} ran. Call it in run(), not inside of a step, and await nothing there but the functions of ctx.`,
    { expose: true },
  )
}

export function invalidOption(message: string): AlliumError {
  return new AlliumError('options.invalid', message)
}

function listOf(keys: readonly string[]): string {
  return keys.map((key) => `"${key}"`).join(', ')
}
