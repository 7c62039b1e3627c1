import type { Cancel, NarrowCancel } from '../compose/cancel.ts'
import { coreFrame } from '../compose/frame.ts'
import { isThenable } from '../compose/thenable.ts'
import { AbortError } from '../errors/abort-error.ts'
import { AlliumError } from '../errors/allium-error.ts'
import { messageOf } from '../errors/describe.ts'
import { cloneJson } from '../messages/json.ts'
import type { ToolCall } from '../scopes/tool-call.ts'
import { ToolView } from '../scopes/tool-context.ts'
import { type Deadline, Deadlines } from '../seams/deadlines.ts'
import { type CheckedArgs, checkArgs, tellIssues } from '../tool/check-args.ts'
import type { AnyTool } from '../tool/tool.ts'
import { errorResult, resultOf, type ToolResult } from '../tool/tool-result.ts'

/** The core of the tool scope: the arguments are asked of the schema once more, then the tool runs through the journal. */
export function executeTool(call: ToolCall): ToolResult | PromiseLike<ToolResult> {
  const { registered, callId } = call
  if (call.invalid !== undefined || registered === undefined) return errorResult(callId, tellIssues(call.invalid ?? []))
  if (!call.changed) return approved(call, registered.tool, { value: call.parsed })
  const checked = checkArgs(registered.tool, call.fields.args, call.turn.session.agent.setup.validate)
  return checked instanceof Promise
    ? checked.then((args) => approved(call, registered.tool, args))
    : approved(call, registered.tool, checked)
}

function approved(call: ToolCall, tool: AnyTool, args: CheckedArgs): ToolResult | PromiseLike<ToolResult> {
  if (args.issues !== undefined) return errorResult(call.callId, `The arguments do not fit: ${tellIssues(args.issues)}`)
  const { requireApproval } = tool
  if (requireApproval === undefined || requireApproval === false || call.approved) return step(call, tool, args.value)
  if (requireApproval === true) return unapproved(call)
  return Promise.resolve(requireApproval(args.value as never, contextOf(call, call.cancel))).then((required) =>
    required ? unapproved(call) : step(call, tool, args.value),
  )
}

function unapproved({ callId, name }: ToolCall): ToolResult {
  return {
    callId,
    content: `The tool "${name}" needs an approval, and nobody has approved this call.`,
    isError: true,
    status: 'denied',
  }
}

function step(call: ToolCall, tool: AnyTool, value: unknown): ToolResult | PromiseLike<ToolResult> {
  const { turn } = call
  const id = `${turn.turnId}:tool:${call.callId}:${call.attempt}`
  return turn.session.agent.setup.journal.step(
    id,
    () => invoke(call, tool, tool.schema === undefined ? cloneJson(value) : value),
    nothing,
  )
}

function invoke(call: ToolCall, tool: AnyTool, args: unknown): ToolResult | Promise<ToolResult> {
  const cancel = call.cancel.narrow()
  let returned: unknown
  try {
    returned = tool.execute?.(args as never, contextOf(call, cancel))
    if (!isThenable(returned)) {
      cancel.release()
      return resultOf(call.callId, returned)
    }
  } catch (error) {
    cancel.release()
    return failed(call, error)
  }
  return settle(call, tool, returned, cancel)
}

/** Waits for the tool, its timeout or the end of the run, whichever comes first. A late result is dropped. */
function settle(
  call: ToolCall,
  tool: AnyTool,
  running: PromiseLike<unknown>,
  cancel: NarrowCancel,
): Promise<ToolResult> {
  const { turn } = call
  const { clock, toolTimeout } = turn.session.agent.setup
  const ms = tool.timeout ?? toolTimeout
  return new Promise((resolve, reject) => {
    let open = true
    let deadline: Deadline | undefined
    const close = () => {
      open = false
      if (deadline !== undefined) turn.deadlines?.remove(deadline)
      cancel.off(leave)
      cancel.release()
      call.live = undefined
    }
    const leave = (reason: unknown) => {
      close()
      reject(reason)
    }
    const settled = (shaped: (call: ToolCall, value: unknown) => ToolResult, value: unknown) => {
      if (!open) return
      close()
      resolve(shaped(call, value))
    }
    const late = () => {
      const error = tooSlow(call, ms)
      settled(failed, error)
      cancel.abort(new DOMException(error.message, 'TimeoutError'))
    }
    cancel.on(leave)
    call.live = (reason: unknown = new AbortError('the call was left')) => cancel.abort(reason)
    running.then(
      (value) => settled(shape, value),
      (error) => settled(failed, error),
    )
    afterTicks(3, () => {
      if (!open) return
      turn.deadlines ??= new Deadlines(clock)
      deadline = turn.deadlines.add(ms, late)
    })
  })
}

/** A tool that is done within these turns of the microtask queue needs no timer, which would cost more than all else of its call. */
function afterTicks(ticks: number, then: () => void): void {
  void Promise.resolve().then(() => (ticks > 1 ? afterTicks(ticks - 1, then) : then()))
}

function tooSlow({ name }: ToolCall, ms: number): AlliumError {
  const message = `The tool "${name}" took longer than ${ms} ms.`
  return new AlliumError('tool.timeout', message, { expose: true, details: { tool: name, ms } })
}

function shape(call: ToolCall, value: unknown): ToolResult {
  try {
    return resultOf(call.callId, value)
  } catch (error) {
    return failed(call, error)
  }
}

/** What was thrown goes to the log and to observers; the model gets a text that gives nothing away. */
function failed(call: ToolCall, error: unknown): ToolResult {
  const { callId, name, turn } = call
  if (turn.end === undefined)
    turn.session.agent.setup.logger.warn(`The tool "${name}" failed: ${messageOf(error)}`, {
      error,
      callId,
      turnId: turn.turnId,
    })
  const told = exposed(error) ? messageOf(error) : `The tool "${name}" failed.`
  return errorResult(callId, told, error ?? new Error('The tool threw nothing.'))
}

/** Whether an error says that its message may be shown. */
function exposed(error: unknown): boolean {
  try {
    return typeof error === 'object' && error !== null && (error as { expose?: unknown }).expose === true
  } catch {
    return false
  }
}

function contextOf(call: ToolCall, cancel: Cancel): ToolView {
  return new ToolView(coreFrame(call, call.name, cancel))
}

function nothing(): void {}
