import { AbandonedError } from '../../errors/abort-error.ts'
import { formatIssues } from '../../errors/issues.ts'
import { isThenable, watch } from '../../errors/thenable.ts'
import { cloneJson, equalJson } from '../../messages/json.ts'
import type { ProviderApprovalRequest } from '../../messages/message.ts'
import { isOpen } from '../../onion/attempt.ts'
import { fail, succeed, whenDone } from '../../onion/outcome.ts'
import { recordEffects, replayEffects, withEffects } from '../../turn/effect-log.ts'
import type { PendingSuspension } from '../../turn/tool-call.ts'
import type { Approval } from '../approval.ts'
import { type CheckedArgs, checkArgs } from '../check-args.ts'
import type { AnyTool } from '../tool.ts'
import { errorResult, serialize, type ToolResult } from '../tool-result.ts'
import type { ToolAttempt } from './context.ts'
import { failedResult, notRunHere, type Outcome, returnedResult, unknownOutcome } from './outcome.ts'
import { untilSettled } from './running.ts'

/** The core of the tool scope. It checks the arguments and the consent, then runs the tool through the journal. */
export function executeTool(core: ToolAttempt): void {
  const { registered, requested, callId, parsed, begins, sent } = core.$call
  const { invalid, changed, args, shown = args } = core.$fields
  begins?.(shown)
  if (invalid === undefined && requested.call.approvalRequest !== undefined) return succeed(core, answerProvider(core))
  if (invalid !== undefined || registered === undefined)
    return succeed(core, errorResult(callId, formatIssues(invalid ?? []), sent.cause))
  const { tool } = registered
  // Only the first attempt may use the parsed arguments, because the tool may have changed them.
  if (!changed && core.$number === 1) return consent(core, tool, { value: parsed })
  const checked = checkArgs(tool, args, core.$turn.session.agent.setup.validate)
  if (checked instanceof Promise) whenDone(core, checked, (judged) => consent(core, tool, judged))
  else consent(core, tool, checked)
}

/** Runs the tool with valid arguments, unless the call is denied or needs an approval. */
function consent(core: ToolAttempt, tool: AnyTool, args: CheckedArgs): void {
  const { $call: call } = core
  if (args.issues !== undefined)
    return succeed(core, errorResult(call.callId, `The arguments do not fit: ${formatIssues(args.issues)}`, args.cause))
  const { value } = args
  const { approval } = call.requested
  if (approval !== undefined && 'deny' in approval) return succeed(core, call.deny(approval.deny))
  const mustSuspend = approval === undefined ? needsApproval(core, tool, value) : hasChanged(core, approval)
  const decide = (suspends: boolean) => {
    if (!suspends) return step(core, tool, value)
    const reason =
      approval === undefined
        ? `The tool "${call.name}" requires an approval.`
        : `The arguments of "${call.name}" changed after they had been approved.`
    succeed(core, call.suspend(core, { reason }))
  }
  if (mustSuspend instanceof Promise) whenDone(core, mustSuspend, decide)
  else decide(mustSuspend)
}

/** Whether the tool requires an approval that no layer has given. */
function needsApproval(core: ToolAttempt, tool: AnyTool, value: unknown): boolean | Promise<boolean> {
  const { requireApproval = false } = tool
  if (requireApproval === false || core.$fields.approved) return false
  return requireApproval === true || Promise.resolve(requireApproval(value as never, core))
}

/** Whether the arguments changed after a human had approved them. */
function hasChanged({ $call, $fields }: ToolAttempt, approval: Approval): false | Promise<boolean> {
  const { suspension } = $call.requested
  const seen = suspension?.layer === undefined ? $fields.args : $fields.consulted
  if ('args' in approval || suspension === undefined || suspension.inner !== undefined || seen === undefined)
    return false
  return import('../../later.ts').then(async ({ digestOf }) => (await digestOf(seen)) !== suspension.args)
}

/** Runs the tool as a step of the journal, if there is one. */
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
    onInterrupted === 'retry'
      ? runs
      : async () => ((await steps.begin(name)) ? runs() : unknownOutcome(core, onInterrupted))
  watch(
    steps.run(core, name, {
      work,
      emit() {},
      request: () => ({ names: { tool: call.name }, must: { arguments: value } }),
    }),
    (result) => isOpen(core) && intoOnion.done(core, replayEffects(core, result as ToolResult)),
    (error) => (error instanceof AbandonedError ? void steps.abandonAgain(core, error) : fail(core, error)),
  )
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
    if (isThenable(returned)) return untilSettled(returned, core, tool, cancel, outcome)
    cancel.release()
    result = returnedResult(core, returned)
  } catch (error) {
    cancel.release()
    result = failedResult(core, error)
  }
  outcome.done(core, result)
}

/** Delivers the outcome to the layers at once. */
const intoOnion: Outcome = {
  done(core, result) {
    if (!isOpen(core)) return
    const given = withoutDetails(core, result)
    succeed(core, core.$call.requested.isEdited === true ? withNotice(core, given) : given)
  },
  abandoned: fail,
}

/** Handles a tool that suspended itself. The journal records the details. The layers see only that the call is suspended. */
function withoutDetails({ $call: call }: ToolAttempt, result: ToolResult): ToolResult {
  if (result.status !== 'suspended') return result
  call.pendingSuspension ??= result.value as PendingSuspension
  const { value: _, ...shown } = result
  call.suspended ??= shown
  return call.suspended
}

/** Tells the model that other arguments ran than it sent. The layers see the notice as a part of the result. */
function withNotice({ $fields: { args, shown = args } }: ToolAttempt, result: ToolResult): ToolResult {
  if (result.status === 'suspended') return result
  const { content } = result
  const notice = `The approver changed the arguments of this call. It ran with ${serialize(shown)}\n`
  return {
    ...result,
    content: typeof content === 'string' ? notice + content : [{ type: 'text', text: notice }, ...content],
  }
}

/** Answers a provider's approval request. Nothing runs here. The answer is sent with the next model call. */
function answerProvider(core: ToolAttempt): ToolResult {
  const { $call: call, $fields } = core
  const { callId, name } = call
  const { approval, call: sent } = call.requested
  const { server } = sent.approvalRequest as ProviderApprovalRequest
  call.permitted = false
  if (!equalJson($fields.args, sent.args))
    return errorResult(callId, 'The provider cannot run the call with other arguments.')
  if (approval !== undefined && 'deny' in approval) return call.deny(approval.deny)
  if (approval === undefined && !$fields.approved) {
    const where = server === undefined ? '' : ` of the MCP server "${server}"`
    return call.suspend(core, { reason: `The provider asks whether it may run "${name}"${where}.` })
  }
  call.permitted = true
  return { callId, content: 'Approved. The provider runs the call.', status: 'ok' }
}
