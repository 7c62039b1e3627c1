import type { StandardSchemaV1 } from '@standard-schema/spec'
import { cloneJson } from '../messages/json.ts'
import type { ApprovalRecord } from '../messages/message.ts'
import type { ToolCall as CallOfModel, ModelResponse } from '../model/response.ts'
import { notJson } from '../model/tool-args.ts'
import type { Inner, SuspendedCall, SuspendRequest } from '../state/snapshot.ts'
import type { Approval, Decision } from '../tool/approval.ts'
import { type CheckedArgs, checkArgs, refusedKey } from '../tool/check-args.ts'
import type { RegisteredTool } from '../tool/registry.ts'
import { deniedResult, suspendedResult, type ToolResult } from '../tool/tool-result.ts'
import type { Turn } from './turn.ts'
import { TurnCall } from './turn-call.ts'

type Args = Record<string, unknown>

/** A tool call that this agent answers. */
export interface RequestedCall {
  readonly call: CallOfModel
  /** Its index among the calls of the answer. */
  readonly index: number
  /** Why the arguments are not a complete JSON object. */
  readonly problem: string | undefined
  readonly approval: Approval | undefined
  /** Whether the approver gave other arguments than the model. */
  readonly isEdited?: boolean
  /** The stored record of the approval. */
  readonly approvalRecord?: Omit<ApprovalRecord, 'at'> | undefined
  /** The suspended call, if the run resumes with it. */
  readonly suspension: SuspendedCall | undefined
  /** Decisions on the calls of a suspended sub-agent inside. */
  readonly inner?: Record<string, Decision> | undefined
}

/** The details of a suspension by a layer or by the tool. */
export interface PendingSuspension {
  readonly request: SuspendRequest
  /** The arguments at the time of the suspension. */
  readonly args: Args
  readonly layer: string | undefined
  readonly inner: Inner | undefined
}

/** The arguments before any layer has seen them. */
export interface SentArgs {
  readonly args: Args
  readonly invalid: readonly StandardSchemaV1.Issue[] | undefined
  /** The error that the schema threw, for logs and observers. */
  readonly cause?: unknown
}

/** One execution of one tool. It may have several attempts. */
export class ToolCall extends TurnCall {
  readonly callId: string
  readonly name: string
  /** The denial. Sticky: nothing undoes it. */
  denied: ToolResult | undefined
  /** The result of a suspended call. Sticky, but a denial overrides it. */
  suspended: ToolResult | undefined
  /** The details of the suspension. Layers do not see it, because it contains the suspension of a sub-agent. */
  pendingSuspension: PendingSuspension | undefined
  /** Called with the arguments to show in records, when the core of the call is reached. */
  begins: ((args: Args) => void) | undefined
  /** Whether the provider that requested approval may run the call. */
  permitted = false
  /** The approval record of this run, if a layer asked an approver itself. */
  approvalRecord: Omit<ApprovalRecord, 'at'> | undefined

  constructor(
    turn: Turn,
    readonly requested: RequestedCall,
    /** The arguments as the model sent them, and why they are invalid, if they are. */
    readonly sent: SentArgs,
    readonly registered: RegisteredTool | undefined,
    /** The arguments as the schema parsed them. */
    readonly parsed: unknown,
  ) {
    super(turn.rings.tool, turn.options.onion.tool, turn)
    this.callId = requested.call.callId
    this.name = requested.call.name
  }

  deny(reason: string): ToolResult {
    return (this.denied ??= deniedResult(this.callId, reason))
  }

  /** Suspends this call, unless it is denied. The run ends after this step. */
  suspend(
    { $fields: { args } }: { $fields: { args: Args } },
    request: SuspendRequest,
    layer?: string,
    inner?: Inner,
  ): ToolResult {
    if (this.suspended === undefined) {
      this.suspended = suspendedResult(this.callId)
      this.pendingSuspension = { request: cloneJson(request), args: cloneJson(args), layer, inner }
    }
    return this.denied ?? this.suspended
  }

  /** Applies a human's denial at the layer that suspended the call, so that the outer layers see a normal denial. */
  applyDecision(layer: string | undefined): void {
    const { approval, suspension } = this.requested
    if (approval !== undefined && 'deny' in approval && layer !== undefined && suspension?.layer === layer)
      this.deny(approval.deny)
  }
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

/** Validates the arguments of a call, before a layer sees it. */
export function prepare(
  turn: Turn,
  requested: RequestedCall,
  args: Record<string, unknown>,
): ToolCall | Promise<ToolCall> {
  const { call, problem } = requested
  const isRemote = call.approvalRequest !== undefined
  const registered = isRemote ? undefined : turn.options.tools.get(call.name)
  const make = (invalid: SentArgs['invalid'], parsed?: unknown, cause?: unknown) =>
    new ToolCall(turn, requested, { args, invalid, cause }, registered, parsed)
  const judged = (checked: CheckedArgs) =>
    checked.issues === undefined ? make(undefined, checked.value) : make(checked.issues, undefined, checked.cause)
  if (registered === undefined && !isRemote) return make([{ message: noSuchTool(turn, call.name) }])
  if (problem !== undefined) return make([{ message: problem }])
  const refused = refusedKey(call.args)
  if (refused !== undefined) return make(refused.issues)
  if (registered === undefined) return make(undefined, args)
  const checking = checkArgs(registered.tool, args, turn.session.agent.setup.validate)
  return checking instanceof Promise ? checking.then(judged) : judged(checking)
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
