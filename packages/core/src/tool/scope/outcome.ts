import { AlliumError } from '../../errors/allium-error.ts'
import { fieldOf, messageOf } from '../../errors/describe.ts'
import type { PlainRules } from '../../messages/to-plain.ts'
import { errorResult, resultOf, type ToolResult } from '../tool-result.ts'
import type { ToolAttempt } from './context.ts'

/** Receives the outcome of a tool. */
export interface Outcome {
  done(core: ToolAttempt, result: ToolResult): void
  /** The attempt was abandoned before the tool returned. */
  abandoned(core: ToolAttempt, reason: unknown): void
}

/** Returns the result of a tool that returned. */
export function returnedResult(core: ToolAttempt, value: unknown): ToolResult {
  const { suspended, pendingSuspension, callId } = core.$call
  if (suspended !== undefined) return { ...suspended, value: pendingSuspension }
  try {
    return resultOf(callId, value, (...lost) => onLost(core, ...lost))
  } catch (error) {
    return failedResult(core, error)
  }
}

type Lost = Parameters<NonNullable<PlainRules['lost']>>

/**
 * Warns once per tool and kind: the model gets something else than the tool returned.
 *
 * @throws AlliumError `tool.invalid` if it would get nothing of it, as of a response, a stream or a promise
 */
function onLost({ $call: { name }, $turn: turn }: ToolAttempt, ...[what, keys, isWhole]: Lost): void {
  const place = keys.length === 0 ? '' : ` at "${keys.join('.')}"`
  const message = (fate: string) =>
    `The tool "${name}" returned ${what}${place}, ${fate} Return plain data or a string.`
  if (isWhole)
    throw new AlliumError('tool.invalid', message('of which the model would get nothing. Await it or read it.'))
  const changed = 'which JSON cannot represent, so the model gets something else.'
  turn.session.agent.warnOnce(`lost ${what} ${name}`, message(changed))
}

/**
 * Returns the result of a failed tool. The error goes to the log and to observers. The model gets a text without its
 * details.
 */
export function failedResult({ $call: { callId, name }, $turn: turn }: ToolAttempt, error: unknown): ToolResult {
  if (turn.lifecycle.end === undefined)
    turn.session.agent.setup.logger.warn(`The tool "${name}" failed: ${messageOf(error)}`, {
      error,
      callId,
      turnId: turn.turnId,
    })
  const message = fieldOf(error, 'expose') === true ? messageOf(error) : `The tool "${name}" failed.`
  return errorResult(callId, message, error ?? new Error('The tool threw nothing.'))
}

/** Returns the result of a tool that the provider defines but leaves to this process to run. */
export function notRunHere({ $call: { callId, name }, $turn: turn }: ToolAttempt): ToolResult {
  const fix = `Give it an execute function, which gets the call's arguments, or leave the tool out.`
  turn.session.agent.setup.logger.warn(`The provider left the call of "${name}" to be run here. ${fix}`, { callId })
  return errorResult(callId, `The tool "${name}" cannot be run here.`)
}

/** Returns the result of a call that had started when its process died, so its outcome is unknown. */
export function unknownOutcome(core: ToolAttempt, onInterrupted: 'fail' | 'ask'): ToolResult {
  const { name, callId } = core.$call
  const message = `The tool "${name}" was called, and its process was lost before it ended: its outcome is unknown.`
  if (onInterrupted === 'fail')
    return errorResult(callId, message, new AlliumError('tool.outcome_unknown', message, { expose: true }))
  core.$call.suspend(core, { reason: `${message} Approve the call to run it again.`, interrupted: core.stepId })
  return returnedResult(core, undefined)
}
