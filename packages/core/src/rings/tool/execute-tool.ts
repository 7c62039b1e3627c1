import { AbandonedError } from '../../errors/abandoned-error.ts'
import { AlliumError } from '../../errors/allium-error.ts'
import { messageOf } from '../../errors/describe.ts'
import { fieldOf } from '../../errors/field-of.ts'
import { isThenable, watch } from '../../errors/thenable.ts'
import { cloneJson, equalJson } from '../../messages/json.ts'
import type { ProviderApprovalRequest } from '../../messages/message.ts'
import { isOpen } from '../../onion/attempt.ts'
import { fail, succeed, whenDone } from '../../onion/next.ts'
import { digestOf } from '../../seams/seal.ts'
import { type CheckedArgs, checkArgs, formatIssues } from '../../tool/check-args.ts'
import type { AnyTool } from '../../tool/tool.ts'
import { errorResult, resultOf, type ToolResult } from '../../tool/tool-result.ts'
import { recordEffects, replayEffects, withEffects } from '../turn/effect-log.ts'
import { toolFingerprint } from '../turn/fingerprint.ts'
import type { ToolAttempt } from './context.ts'
import { type Outcome, Running } from './running.ts'
import type { PendingSuspension } from './tool-call.ts'

/** The core of the tool scope: validates the arguments again, then runs the tool through the journal. */
export function executeTool(core: ToolAttempt): void {
  const { registered, callId, parsed } = core.$call
  const { invalid, changed, args, shown = args } = core.$fields
  core.$call.begins?.(shown)
  if (invalid === undefined && core.$call.requested.call.approvalRequest !== undefined) return answerProvider(core)
  if (invalid !== undefined || registered === undefined)
    return succeed(core, errorResult(callId, formatIssues(invalid ?? []), core.$call.sent.cause))
  const { tool } = registered
  // Only the first attempt may use the parsed arguments, because the tool may have changed them.
  if (!changed && core.$number === 1) return runDecided(core, tool, { value: parsed })
  const checked = checkArgs(tool, args, core.$turn.session.agent.setup.validate)
  if (checked instanceof Promise) whenDone(core, checked, (args) => runDecided(core, tool, args))
  else runDecided(core, tool, checked)
}

/** Runs a call with its decision, unless its arguments have changed since. */
function runDecided(core: ToolAttempt, tool: AnyTool, args: CheckedArgs): void {
  const { $call: call, $fields } = core
  if (args.issues !== undefined)
    return succeed(core, errorResult(call.callId, `The arguments do not fit: ${formatIssues(args.issues)}`, args.cause))
  const { approval, suspension } = call.requested
  if (approval === undefined) return permitted(core, tool, args.value)
  if ('deny' in approval) return succeed(core, call.deny(approval.deny))
  const seen = suspension?.layer === undefined ? $fields.args : $fields.consulted
  if ('args' in approval || suspension === undefined || suspension.inner !== undefined || seen === undefined)
    return step(core, tool, args.value)
  whenDone(core, digestOf(seen), (digest) =>
    digest === suspension.args
      ? step(core, tool, args.value)
      : suspendCall(core, `The arguments of "${call.name}" changed after they had been approved.`),
  )
}

/** Answers a provider's approval request. Nothing runs here. The answer is sent with the next model call. */
function answerProvider(core: ToolAttempt): void {
  const { $call: call, $fields } = core
  const { approval, call: sent } = call.requested
  const { server } = sent.approvalRequest as ProviderApprovalRequest
  call.permitted = false
  if (!equalJson($fields.args, sent.args))
    return succeed(core, errorResult(call.callId, 'The provider cannot run the call with other arguments.'))
  if (approval !== undefined && 'deny' in approval) return succeed(core, call.deny(approval.deny))
  if (approval === undefined && !$fields.approved)
    return suspendCall(
      core,
      `The provider asks whether it may run "${call.name}"${server === undefined ? '' : ` of the MCP server "${server}"`}.`,
    )
  call.permitted = true
  succeed(core, { callId: call.callId, content: 'Approved. The provider runs the call.', status: 'ok' })
}

/** Runs a call that needs no approval or that a layer approved. Otherwise suspends it. */
function permitted(core: ToolAttempt, tool: AnyTool, value: unknown): void {
  const { requireApproval } = tool
  if (requireApproval === undefined || requireApproval === false || core.$fields.approved)
    return step(core, tool, value)
  const suspend = () => suspendCall(core, `The tool "${core.$call.name}" requires an approval.`)
  if (requireApproval === true) return suspend()
  whenDone(core, Promise.resolve(requireApproval(value as never, core)), (required) =>
    required ? suspend() : step(core, tool, value),
  )
}

function suspendCall(core: ToolAttempt, reason: string): void {
  succeed(core, core.$call.suspend(core, { reason }))
}

function step(core: ToolAttempt, tool: AnyTool, value: unknown): void {
  const { $turn: turn, $call: call } = core
  const { steps } = turn
  if (steps === undefined) return invoke(core, tool, value, intoOnion)
  const runs = () => {
    recordEffects(core)
    return new Promise<ToolResult>((done, failed) =>
      invoke(core, tool, value, {
        done: (_, result) => done(withEffects(core, result)),
        abandoned: (_, reason) => failed(steps.abandonedReason(core, reason)),
      }),
    )
  }
  const name = `tool:${call.callId}:${core.$number}`
  const { onInterrupted = 'retry' } = tool
  const work =
    onInterrupted === 'retry' ? runs : async () => ((await steps.begin(name)) ? runs() : unknown(core, onInterrupted))
  watch(
    steps.run(core, name, { work, emit: nothing, fingerprint: () => toolFingerprint(core, value) }),
    (result) => isOpen(core) && intoOnion.done(core, replayEffects(core, result as ToolResult)),
    (error) => (error instanceof AbandonedError ? void steps.abandonAgain(core, error) : fail(core, error)),
  )
}

/** Handles a call that had started when its process died, so its outcome is unknown. */
function unknown(core: ToolAttempt, onInterrupted: 'fail' | 'ask'): ToolResult {
  const { name, callId } = core.$call
  const message = `The tool "${name}" was called, and its process was lost before it ended: its outcome is unknown.`
  if (onInterrupted === 'fail')
    return errorResult(callId, message, new AlliumError('tool.outcome_unknown', message, { expose: true }))
  core.$call.suspend(core, { reason: `${message} Approve the call to run it again.` })
  return shape(core, undefined)
}

/** Delivers the tool's outcome outward at once. */
const intoOnion: Outcome = {
  done(core, result) {
    if (isOpen(core)) succeed(core, unlessSuspended(core, result))
  },
  abandoned: fail,
}

/** Handles a tool that suspended itself. The journal records the details. The layers see only that the call is suspended. */
function unlessSuspended({ $call: call }: ToolAttempt, result: ToolResult): ToolResult {
  if (result.status !== 'suspended') return result
  call.pendingSuspension ??= result.value as PendingSuspension
  const { value: _, ...shown } = result
  call.suspended ??= shown
  return call.suspended
}

function invoke(core: ToolAttempt, tool: AnyTool, value: unknown, outcome: Outcome): void {
  if (!isOpen(core)) return outcome.abandoned(core, core.$outcome)
  if (tool.execute === undefined) return outcome.done(core, notRunHere(core))
  const cancel = core.$cancel.narrow()
  core.$cancel = cancel
  let result: ToolResult
  try {
    const args = tool.schema === undefined ? cloneJson(value) : value
    const returned = tool.execute(args as never, core)
    if (isThenable(returned)) return new Running(core, tool, cancel, shapes, outcome).until(returned)
    cancel.release()
    result = shape(core, returned)
  } catch (error) {
    cancel.release()
    result = failed(core, error)
  }
  outcome.done(core, result)
}

/** Handles a tool that the provider defines but leaves to this process to run. */
function notRunHere({ $call: { callId, name }, $turn: turn }: ToolAttempt): ToolResult {
  const fix = `Give it an execute function, which gets the call's arguments, or leave the tool out.`
  turn.session.agent.setup.logger.warn(`The provider left the call of "${name}" to be run here. ${fix}`, { callId })
  return errorResult(callId, `The tool "${name}" cannot be run here.`)
}

function shape(core: ToolAttempt, value: unknown): ToolResult {
  const { suspended, pendingSuspension, callId } = core.$call
  if (suspended !== undefined) return { ...suspended, value: pendingSuspension }
  try {
    return resultOf(callId, value, (what, keys) => warnLost(core, what, keys))
  } catch (error) {
    return failed(core, error)
  }
}

/** Warns once per tool and kind: the model gets something else than the tool returned. */
function warnLost({ $call: { name }, $turn: turn }: ToolAttempt, what: string, keys: readonly string[]): void {
  const place = keys.length === 0 ? '' : ` at "${keys.join('.')}"`
  turn.session.agent.warnOnce(
    `lost ${what} ${name}`,
    `The tool "${name}" returned ${what}${place}, which JSON cannot represent, so the model gets something else. Return plain data or a string.`,
  )
}

const shapes = { shape, failed }

/**
 * Returns the result of a failed tool. The error goes to the log and to observers. The model gets a text without its
 * details.
 */
function failed({ $call: { callId, name }, $turn: turn }: ToolAttempt, error: unknown): ToolResult {
  if (turn.end === undefined)
    turn.session.agent.setup.logger.warn(`The tool "${name}" failed: ${messageOf(error)}`, {
      error,
      callId,
      turnId: turn.turnId,
    })
  const message = fieldOf(error, 'expose') === true ? messageOf(error) : `The tool "${name}" failed.`
  return errorResult(callId, message, error ?? new Error('The tool threw nothing.'))
}

function nothing(): void {}
