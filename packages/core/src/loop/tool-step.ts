import type { ToolEnd } from '../events/events.ts'
import { cloneJson } from '../messages/json.ts'
import { jsonSafe } from '../messages/json-safe.ts'
import type { ToolResultPart } from '../messages/message.ts'
import type { ToolCall as CallOfModel, ModelResponse } from '../model/response.ts'
import { notJson } from '../model/tool-args.ts'
import { toolRing } from '../rings/tool/ring.ts'
import { type RequestedCall, type SentArgs, ToolCall } from '../rings/tool/tool-call.ts'
import type { Turn } from '../rings/turn/turn.ts'
import type { ToolCallRecord } from '../tool/call-record.ts'
import { type CheckedArgs, checkArgs, refusedKey } from '../tool/check-args.ts'
import { errorResult, type ToolResult } from '../tool/tool-result.ts'
import { approvalSeal } from './provider-approvals.ts'
import { resultPart } from './result-part.ts'

/** Runs tool calls, several at once, and adds their results to the history in the order of the calls. */
export async function toolStep(turn: Turn, calls: readonly RequestedCall[]): Promise<void> {
  if (calls.length === 0) return
  const step = new ToolStep(turn, calls)
  turn.transcript.step = step
  await (calls.length === 1 ? step.runOne(0) : step.runAll())
  step.end()
}

/** Returns the calls of an answer, except those that the provider ran. */
export function requestedCalls(response: ModelResponse): RequestedCall[] {
  const requested: RequestedCall[] = []
  for (const call of response.toolCalls) {
    if (call.providerExecuted === true) continue
    const problem = call.invalid === undefined ? cutShort(call, response) : invalidJson(call.invalid, response)
    requested.push({ call, index: requested.length, problem, approval: undefined, suspension: undefined })
  }
  return requested
}

/** The tool calls of one step: which are running, and their results. */
class ToolStep {
  readonly #turn: Turn
  readonly #calls: readonly RequestedCall[]
  /** By index, like the calls. */
  readonly #records: (ToolCallRecord | undefined)[]
  readonly #runs: boolean[]
  /** The arguments of each call that has started, as records show them. */
  readonly #begun: (Record<string, unknown> | undefined)[] = []
  /** Records of calls that the requesting provider may run, with their seals. */
  readonly #permitted = new Map<ToolCallRecord, string | undefined>()
  #closed = false

  constructor(turn: Turn, calls: readonly RequestedCall[]) {
    this.#turn = turn
    this.#calls = calls
    this.#records = calls.map(() => undefined)
    this.#runs = calls.map(() => false)
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
    const record = this.#recordOf(index, jsonSafe({ ...result }, 'error'))
    this.#runs[index] = false
    const approvalRecord = call?.approvalRecord ?? requested.approvalRecord
    if (approvalRecord !== undefined && result.status !== 'suspended')
      record.approval = { ...approvalRecord, at: turn.startedAt }
    this.#records[index] = record
    if (permitted) this.#permitted.set(record, seal)
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
      part.approved = this.#permitted.has(record)
      const seal = this.#permitted.get(record)
      if (seal !== undefined) part.approvalSeal = seal
    }
    turn.transcript.addResults(content)
  }

  /** The tool is about to run. Events show the arguments of the first attempt, records those of the last. */
  #begins(index: number, args: Record<string, unknown>): void {
    const { callId, name } = (this.#calls[index] as RequestedCall).call
    if (this.#begun[index] === undefined) emitStart(this.#turn, callId, name, cloneJson(args))
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

function emitStart(turn: Turn, callId: string, name: string, args: Record<string, unknown>): void {
  turn.send({ type: 'tool:start', ...turn.location, callId, name, args })
}

/** Emits `tool:end`. The error goes only to observers. */
function emitEnd(turn: Turn, { name, result, approval }: ToolCallRecord): void {
  const { callId, status, isError = false, error } = result
  const content = contentText(result)
  const event: ToolEnd = { type: 'tool:end', ...turn.location, callId, name, status, content, isError }
  if (approval !== undefined) event.approval = approval
  void turn.events.push(event)
  const { observers } = turn.session.agent
  if (observers.has('tool:end')) observers.emit('tool:end', error === undefined ? { ...event } : { ...event, error })
}

/** Validates the arguments of a call, before a layer sees it. */
function prepare(turn: Turn, requested: RequestedCall, args: Record<string, unknown>): ToolCall | Promise<ToolCall> {
  const { agent } = turn.session
  const { call, problem } = requested
  const isRemote = call.approvalRequest !== undefined
  const registered = isRemote ? undefined : turn.options.tools.get(call.name)
  const make = (invalid: SentArgs['invalid'], parsed?: unknown, cause?: unknown) =>
    new ToolCall(turn, toolRing, requested, { args, invalid, cause }, registered, parsed)
  const judged = (checked: CheckedArgs) =>
    checked.issues === undefined ? make(undefined, checked.value) : make(checked.issues, undefined, checked.cause)
  if (registered === undefined && !isRemote) return make([{ message: noSuchTool(turn, call.name) }])
  if (problem !== undefined) return make([{ message: problem }])
  const refused = refusedKey(call.args)
  if (refused !== undefined) return make(refused.issues)
  if (registered === undefined) return make(undefined, args)
  const checked = checkArgs(registered.tool, args, agent.setup.validate)
  return checked instanceof Promise ? checked.then(judged) : judged(checked)
}

const truncated = 'The arguments were truncated, because the answer reached its length limit. Send a shorter call.'

function invalidJson(problem: string, response: ModelResponse): string {
  if (response.finishReason === 'length') return truncated
  const cut = problem === notJson ? ' They may have been truncated.' : ''
  return `${problem}${cut} Send the call again, as one JSON object.`
}

/** Returns the problem if the answer reached its length limit before any argument of its last call arrived. */
function cutShort(call: CallOfModel, { finishReason, toolCalls }: ModelResponse): string | undefined {
  const cut = finishReason === 'length' && toolCalls.at(-1) === call && Object.keys(call.args).length === 0
  return cut ? truncated : undefined
}

function noSuchTool(turn: Turn, name: string): string {
  const names = turn.options.tools.defs.map((def) => def.name)
  return `There is no tool "${name.slice(0, 100)}". ${names.length === 0 ? 'There are no tools.' : `The tools are: ${names.join(', ')}.`}`
}

function cancelled(callId: string): ToolResult {
  return errorResult(callId, 'Cancelled.')
}

function contentText({ content }: ToolResult): string {
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('')
}
