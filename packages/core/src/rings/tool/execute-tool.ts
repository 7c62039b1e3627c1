import { AbortError } from '../../errors/abort-error.ts'
import { AlliumError } from '../../errors/allium-error.ts'
import { messageOf } from '../../errors/describe.ts'
import { cloneJson } from '../../messages/json.ts'
import type { Cancel, NarrowCancel } from '../../onion/cancel.ts'
import { coreFrame } from '../../onion/next.ts'
import { isThenable } from '../../onion/thenable.ts'
import { type Deadline, Deadlines } from '../../seams/deadlines.ts'
import { digestOf } from '../../seams/seal.ts'
import { type CheckedArgs, checkArgs, tellIssues } from '../../tool/check-args.ts'
import type { AnyTool } from '../../tool/tool.ts'
import { errorResult, resultOf, type ToolResult } from '../../tool/tool-result.ts'
import { ToolView } from './context.ts'
import type { ToolCall, Waiting } from './tool-call.ts'

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
  const { approval, waited } = call.asked
  if (approval === undefined) return permitted(call, tool, args.value)
  if ('deny' in approval) return call.deny(approval.deny)
  const seen = waited?.layer === undefined ? call.fields.args : call.consulted
  if ('args' in approval || waited === undefined || waited.inner !== undefined || seen === undefined)
    return step(call, tool, args.value)
  return digestOf(seen).then((digest) =>
    digest === waited.args
      ? step(call, tool, args.value)
      : waits(call, `The arguments of "${call.name}" changed after they had been approved.`),
  )
}

/** Runs a call that needs no human, or that a layer has approved; else it waits. */
function permitted(call: ToolCall, tool: AnyTool, value: unknown): ToolResult | PromiseLike<ToolResult> {
  const { requireApproval } = tool
  if (requireApproval === undefined || requireApproval === false || call.approved) return step(call, tool, value)
  const asks = () => waits(call, `The tool "${call.name}" requires an approval.`)
  if (requireApproval === true) return asks()
  return Promise.resolve(requireApproval(value as never, contextOf(call, call.cancel))).then((required) =>
    required ? asks() : step(call, tool, value),
  )
}

function waits(call: ToolCall, reason: string): ToolResult {
  return call.suspend(coreFrame(call, call.name), { reason })
}

function step(call: ToolCall, tool: AnyTool, value: unknown): ToolResult | PromiseLike<ToolResult> {
  const { turn } = call
  const id = `${turn.turnId}:tool:${call.callId}:${call.attempt}`
  const work = () => invoke(call, tool, tool.schema === undefined ? cloneJson(value) : value)
  const result = turn.session.agent.setup.journal.step(id, work, nothing)
  return isThenable(result) ? result.then((result) => unlessWaiting(call, result)) : unlessWaiting(call, result)
}

/** A tool that suspended itself: the journal keeps how it waits, and the layers see that it does. */
function unlessWaiting(call: ToolCall, result: ToolResult): ToolResult {
  if (result.status !== 'suspended') return result
  call.waiting ??= result.value as Waiting
  const { value: _, ...shown } = result
  call.suspended ??= shown
  return call.suspended
}

function invoke(call: ToolCall, tool: AnyTool, args: unknown): ToolResult | Promise<ToolResult> {
  const cancel = call.cancel.narrow()
  let returned: unknown
  try {
    returned = tool.execute?.(args as never, contextOf(call, cancel))
    if (!isThenable(returned)) {
      cancel.release()
      return shape(call, returned)
    }
  } catch (error) {
    cancel.release()
    return failed(call, error)
  }
  const running = returned
  return new Promise((resolve, reject) => new Running(call, tool, cancel, resolve, reject).watch(running))
}

/** A tool that runs: it ends with its own outcome, its timeout, or the end of the run, whichever comes first. */
class Running {
  readonly #call: ToolCall
  readonly #tool: AnyTool
  readonly #cancel: NarrowCancel
  readonly #resolve: (result: ToolResult) => void
  readonly #reject: (error: unknown) => void
  #open = true
  #deadline: Deadline | undefined
  readonly #leave = (reason: unknown) => {
    this.#close()
    this.#reject(reason)
  }

  constructor(
    call: ToolCall,
    tool: AnyTool,
    cancel: NarrowCancel,
    resolve: (result: ToolResult) => void,
    reject: (error: unknown) => void,
  ) {
    this.#call = call
    this.#tool = tool
    this.#cancel = cancel
    this.#resolve = resolve
    this.#reject = reject
  }

  watch(running: PromiseLike<unknown>): void {
    const call = this.#call
    const cancel = this.#cancel
    cancel.on(this.#leave)
    call.live = (reason = new AbortError('the call was left')) => cancel.abort(reason)
    running.then(
      (value) => this.#settle(shape, value),
      (error) => this.#settle(failed, error),
    )
    this.#arm(3)
  }

  /** A tool that is done within these turns of the microtask queue needs no timer, which would cost more than all else of its call. */
  #arm(ticks: number): void {
    void Promise.resolve().then(() => {
      if (!this.#open) return
      if (ticks > 1) return this.#arm(ticks - 1)
      const { turn } = this.#call
      const { clock, toolTimeout } = turn.session.agent.setup
      const ms = this.#tool.timeout ?? toolTimeout
      turn.deadlines ??= new Deadlines(clock)
      this.#deadline = turn.deadlines.add(ms, () => this.#late(ms))
    })
  }

  #late(ms: number): void {
    const error = tooSlow(this.#call, ms)
    this.#settle(failed, error)
    this.#cancel.abort(new DOMException(error.message, 'TimeoutError'))
  }

  /** What comes late is dropped. */
  #settle(shaped: (call: ToolCall, value: unknown) => ToolResult, value: unknown): void {
    if (!this.#open) return
    this.#close()
    this.#resolve(shaped(this.#call, value))
  }

  #close(): void {
    this.#open = false
    const call = this.#call
    if (this.#deadline !== undefined) call.turn.deadlines?.remove(this.#deadline)
    this.#cancel.off(this.#leave)
    this.#cancel.release()
    call.live = undefined
  }
}

function tooSlow({ name }: ToolCall, ms: number): AlliumError {
  const message = `The tool "${name}" took longer than ${ms} ms.`
  return new AlliumError('tool.timeout', message, { expose: true, details: { tool: name, ms } })
}

function shape(call: ToolCall, value: unknown): ToolResult {
  if (call.suspended !== undefined) return { ...call.suspended, value: call.waiting }
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
