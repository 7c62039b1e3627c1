import type { ToolEnd } from '../events/events.ts'
import { cloneJson } from '../messages/json.ts'
import { jsonSafe, showsAll, withoutError } from '../messages/json-safe.ts'
import type { ToolResultPart } from '../messages/message.ts'
import type { ToolCallRecord } from '../tool/call-record.ts'
import { errorResult, isShaped, resultText, type ToolResult } from '../tool/tool-result.ts'
import { prepare, type RequestedCall, type ToolCall } from './tool-call.ts'
import type { Turn } from './turn.ts'

/** A call of a step. */
interface StepCall {
  readonly requested: RequestedCall
  runs: boolean
  /** The arguments as records show them. Set when it has started. */
  begun: Record<string, unknown> | undefined
  record: ToolCallRecord | undefined
  /** Set if the requesting provider may run it, with the seal that proves it. */
  permit: { readonly seal: string | undefined } | undefined
}

/** Runs the tool calls of a step, several at once, and adds their results to the history in the order of the calls. */
export class ToolStep {
  readonly #turn: Turn
  readonly #calls: readonly StepCall[]
  #closed = false

  constructor(turn: Turn, calls: readonly RequestedCall[]) {
    this.#turn = turn
    const initial = { runs: false, begun: undefined, record: undefined, permit: undefined }
    this.#calls = calls.map((requested) => ({ requested, ...initial }))
  }

  async run(): Promise<void> {
    this.#turn.transcript.step = this
    const [first, second] = this.#calls
    await (first !== undefined && second === undefined ? this.#runOne(first) : this.#runAll())
    this.close(false)
  }

  /** Runs the calls in order, with the agent's concurrency limit. */
  async #runAll(): Promise<void> {
    const { length } = this.#calls
    let next = 0
    const work = async () => {
      while (next < length && !this.#turn.lifecycle.isOver) await this.#runOne(this.#calls[next++] as StepCall)
    }
    const workers = Math.min(this.#turn.session.agent.setup.toolConcurrency, length)
    await Promise.all(Array.from({ length: workers }, work))
  }

  async #runOne(step: StepCall): Promise<void> {
    const turn = this.#turn
    const { requested } = step
    step.runs = true
    let result: ToolResult
    let call: ToolCall | undefined
    try {
      const prepared = prepare(turn, requested, cloneJson(requested.call.args))
      call = prepared instanceof Promise ? await turn.lifecycle.until(prepared) : prepared
      call.begins = (args) => this.#begins(step, args)
      result = (await turn.lifecycle.run(call)) as ToolResult
      if (result.status === 'suspended') {
        call.suspended ??= result
        turn.suspendedCalls ??= []
        turn.suspendedCalls.push(call)
      }
    } catch (error) {
      if (!turn.lifecycle.isOver) turn.lifecycle.fail(error)
      result = errorResult(requested.call.callId, 'Cancelled.')
    }
    const permitted = call?.permitted === true && result.status === 'ok' && result.isError !== true
    const permit = permitted ? { seal: await sealFor(turn, requested) } : undefined
    // A closed step has already reported the call as cancelled.
    if (this.#closed) return
    const own = { ...result }
    const record = this.#recordOf(step, showsAll(own) ? own : jsonSafe(own, withoutError))
    step.runs = false
    const approvalRecord = call?.approvalRecord ?? requested.approvalRecord
    if (approvalRecord !== undefined && result.status !== 'suspended')
      record.approval = { ...approvalRecord, at: turn.startedAt }
    step.record = record
    step.permit = permit
    emitEnd(turn, record)
  }

  /**
   * Adds the results to the history, once. Suspended calls get no result. If the loop was abandoned (`cut`), they are
   * cancelled, like calls that still run.
   */
  close(cut = true): void {
    if (this.#closed) return
    this.#closed = true
    const turn = this.#turn
    turn.transcript.step = undefined
    const cancel = (step: StepCall) => this.#recordOf(step, errorResult(step.requested.call.callId, 'Cancelled.'))
    for (const step of this.#calls) if (step.runs) emitEnd(turn, cancel(step))
    const content: ToolResultPart[] = []
    for (const step of this.#calls) {
      const { record: known, requested, permit } = step
      const record = known === undefined || (cut && known.result.status === 'suspended') ? cancel(step) : known
      turn.toolCalls.push(record)
      if (record.result.status === 'suspended') continue
      const part = resultPart(turn, record)
      content.push(part)
      if (requested.call.approvalRequest === undefined) continue
      part.approved = permit !== undefined
      if (permit?.seal !== undefined) part.approvalSeal = permit.seal
    }
    turn.transcript.addResults(content)
  }

  /** The tool is about to run. Events show the arguments of the first attempt, records those of the last. */
  #begins(step: StepCall, args: Record<string, unknown>): void {
    const { callId, name } = step.requested.call
    const { sessionId, turnId, stepIndex } = this.#turn.location
    if (step.begun === undefined)
      this.#turn.send({ type: 'tool:start', sessionId, turnId, stepIndex, callId, name, args: cloneJson(args) })
    step.begun = cloneJson(args)
  }

  /** Creates the record of a call. For a call that ended before its tool ran, `tool:start` is emitted now. */
  #recordOf(step: StepCall, result: ToolResult): ToolCallRecord {
    const { callId, name, args } = step.requested.call
    if (step.runs && step.begun === undefined) this.#begins(step, args)
    return { callId, name, args: step.begun ?? cloneJson(args), result }
  }
}

/** Emits `tool:end`. The error goes only to observers. */
function emitEnd(turn: Turn, { name, result, approval }: ToolCallRecord): void {
  const { callId, status, isError = false, error } = result
  const content = typeof result.content === 'string' ? result.content : resultText(result.content)
  const event: ToolEnd = { type: 'tool:end', ...turn.location, callId, name, status, content, isError }
  if (approval !== undefined) event.approval = approval
  void turn.events.push(event)
  const { observers } = turn.session.agent
  if (observers.events.has('tool:end'))
    observers.emit('tool:end', error === undefined ? { ...event } : { ...event, error })
}

/** Returns the seal that lets the provider run a call, if the agent has a secret. */
async function sealFor({ session }: Turn, { call }: RequestedCall): Promise<string | undefined> {
  const { secret } = session.agent.setup.approvals
  if (secret === undefined) return undefined
  const { approvalSeal } = await import('../later.ts')
  return approvalSeal(session, call, secret)
}

/** Returns the result part for the history. It shares no data with objects that layers hold. */
function resultPart(turn: Turn, { name, result, approval }: ToolCallRecord): ToolResultPart {
  const { callId, content, isError } = result
  const part: ToolResultPart = { type: 'tool-result', callId, name, content: cloneJson(content) }
  if (result.flow !== undefined) part.flow = { ...result.flow }
  // The content is the reason for the denial. It contains no data of the tool.
  else if (result.status === 'denied' && turn.options.tools.declaresFlow) part.flow = {}
  if (approval !== undefined) part.approval = approval
  if (isError === true) part.isError = true
  else if (typeof content === 'string' && approval?.decision !== 'edited' && isJson(result)) part.json = true
  return part
}

/** Whether the content is the JSON of the tool's value. A layer may have changed only one of the two. */
function isJson({ value, status }: ToolResult): boolean {
  return status === 'ok' && value !== undefined && typeof value !== 'string' && !isShaped(value)
}
