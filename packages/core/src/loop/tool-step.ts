import { approvalSeal } from '../approvals/provider-approvals.ts'
import type { ToolEnd } from '../events/events.ts'
import { cloneJson } from '../messages/json.ts'
import { jsonSafe, showsAll } from '../messages/json-safe.ts'
import type { ToolResultPart } from '../messages/message.ts'
import type { ToolCall as CallOfModel } from '../model/response.ts'
import type { RequestedCall, ToolCall } from '../scopes/tool/tool-call.ts'
import type { Turn } from '../scopes/turn/turn.ts'
import type { ToolCallRecord } from '../tool/call-record.ts'
import { errorResult, isShaped, type ToolResult } from '../tool/tool-result.ts'
import { prepare } from './requested-calls.ts'

/** Runs tool calls, several at once, and adds their results to the history in the order of the calls. */
export async function toolStep(turn: Turn, calls: readonly RequestedCall[]): Promise<void> {
  if (calls.length === 0) return
  const step = new ToolStep(turn, calls)
  turn.transcript.step = step
  await (calls.length === 1 ? step.runOne(0) : step.runAll())
  step.end()
}

/** The tool calls of one step: which are running, and their results. */
class ToolStep {
  readonly #turn: Turn
  readonly #calls: readonly RequestedCall[]
  /** By index, like the calls. */
  readonly #records: (ToolCallRecord | undefined)[] = []
  readonly #runs: boolean[] = []
  /** The arguments of each call that has started, as records show them. */
  readonly #begun: (Record<string, unknown> | undefined)[] = []
  /** Records of calls that the requesting provider may run, with their seals. */
  #permitted: Map<ToolCallRecord, string | undefined> | undefined
  #closed = false

  constructor(turn: Turn, calls: readonly RequestedCall[]) {
    this.#turn = turn
    this.#calls = calls
  }

  /** Runs the calls in order, with the agent's concurrency limit. */
  async runAll(): Promise<void> {
    const { length } = this.#calls
    let next = 0
    const work = async () => {
      while (next < length && !this.#turn.lifecycle.isOver) await this.runOne(next++)
    }
    const workers = Math.min(this.#turn.session.agent.setup.toolConcurrency, length)
    await Promise.all(Array.from({ length: workers }, work))
  }

  async runOne(index: number): Promise<void> {
    const turn = this.#turn
    const requested = this.#calls[index] as RequestedCall
    const { callId } = requested.call
    this.#runs[index] = true
    let result: ToolResult
    let call: ToolCall | undefined
    try {
      const prepared = prepare(turn, requested, cloneJson(requested.call.args))
      call = prepared instanceof Promise ? await turn.lifecycle.until(prepared) : prepared
      call.begins = (args) => this.#begins(index, args)
      result = (await turn.lifecycle.run(call)) as ToolResult
      if (result.status === 'suspended') addSuspended(turn, call, result)
    } catch (error) {
      if (!turn.lifecycle.isOver) turn.lifecycle.fail(error)
      result = cancelled(callId)
    }
    const permitted = call?.permitted === true && result.status === 'ok' && result.isError !== true
    const seal = permitted ? await approvalSeal(turn.session, requested.call) : undefined
    // A closed step has already reported the call as cancelled.
    if (this.#closed) return
    const own = { ...result }
    const record = this.#recordOf(index, showsAll(own) ? own : jsonSafe(own, { error: undefined }))
    this.#runs[index] = false
    const approvalRecord = call?.approvalRecord ?? requested.approvalRecord
    if (approvalRecord !== undefined && result.status !== 'suspended')
      record.approval = { ...approvalRecord, at: turn.startedAt }
    this.#records[index] = record
    if (permitted) (this.#permitted ??= new Map()).set(record, seal)
    emitEnd(turn, record)
  }

  /** The loop was abandoned. Calls without a result and suspended calls are cancelled. */
  close(): void {
    this.#commit(true)
  }
  /** All calls have ended. Suspended calls get no result. */
  end(): void {
    this.#commit(false)
  }

  /** Adds the results to the history, once. */
  #commit(cut: boolean): void {
    if (this.#closed) return
    this.#closed = true
    const turn = this.#turn
    turn.transcript.step = undefined
    const cancel = (i: number, { callId }: CallOfModel) => this.#recordOf(i, cancelled(callId))
    for (const [i, { call }] of this.#calls.entries()) if (this.#runs[i] === true) emitEnd(turn, cancel(i, call))
    const content: ToolResultPart[] = []
    for (const [i, { call }] of this.#calls.entries()) {
      const known = this.#records[i]
      const record = known === undefined || (cut && known.result.status === 'suspended') ? cancel(i, call) : known
      turn.toolCalls.push(record)
      if (record.result.status === 'suspended') continue
      const part = resultPart(turn, record)
      content.push(part)
      if (call.approvalRequest === undefined) continue
      part.approved = this.#permitted?.has(record) === true
      const seal = this.#permitted?.get(record)
      if (seal !== undefined) part.approvalSeal = seal
    }
    turn.transcript.addResults(content)
  }

  /** The tool is about to run. Events show the arguments of the first attempt, records those of the last. */
  #begins(index: number, args: Record<string, unknown>): void {
    const turn = this.#turn
    const { callId, name } = (this.#calls[index] as RequestedCall).call
    const { sessionId, turnId, stepIndex } = turn.location
    if (this.#begun[index] === undefined)
      turn.send({ type: 'tool:start', sessionId, turnId, stepIndex, callId, name, args: cloneJson(args) })
    this.#begun[index] = cloneJson(args)
  }

  /** Creates the record of a call. For a call that ended before its tool ran, `tool:start` is emitted now. */
  #recordOf(index: number, result: ToolResult): ToolCallRecord {
    const { callId, name, args } = (this.#calls[index] as RequestedCall).call
    if (this.#runs[index] === true && this.#begun[index] === undefined) this.#begins(index, args)
    return { callId, name, args: this.#begun[index] ?? cloneJson(args), result }
  }
}

function addSuspended(turn: Turn, call: ToolCall, result: ToolResult): void {
  call.suspended ??= result
  turn.suspendedCalls ??= []
  turn.suspendedCalls.push(call)
}

/** Emits `tool:end`. The error goes only to observers. */
function emitEnd(turn: Turn, { name, result, approval }: ToolCallRecord): void {
  const { callId, status, isError = false, error } = result
  const content = contentText(result)
  const { sessionId, turnId, stepIndex } = turn.location
  const event: ToolEnd = { type: 'tool:end', sessionId, turnId, stepIndex, callId, name, status, content, isError }
  if (approval !== undefined) event.approval = approval
  void turn.events.push(event)
  const { observers } = turn.session.agent
  if (observers.has('tool:end')) observers.emit('tool:end', error === undefined ? { ...event } : { ...event, error })
}

function cancelled(callId: string): ToolResult {
  return errorResult(callId, 'Cancelled.')
}

function contentText({ content }: ToolResult): string {
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('')
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
  else if (typeof content === 'string' && isJson(result)) part.json = true
  return part
}

/** Whether the content is the JSON of the tool's value. A layer may have changed only one of the two. */
function isJson({ value, status }: ToolResult): boolean {
  return status === 'ok' && value !== undefined && typeof value !== 'string' && !isShaped(value)
}
