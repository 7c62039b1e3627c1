import type { StandardSchemaV1 } from '@standard-schema/spec'
import { layerOf } from '../../agent/scope/context.ts'
import type { ToolContext } from '../../contexts/tool.ts'
import type { TurnView } from '../../contexts/turn.ts'
import { AlliumError } from '../../errors/allium-error.ts'
import { describe } from '../../errors/describe.ts'
import { formatIssues } from '../../errors/issues.ts'
import { cloneJson } from '../../messages/json.ts'
import type { Identity } from '../../messages/message.ts'
import { State } from '../../onion/attempt.ts'
import type { Cancel } from '../../onion/cancel.ts'
import { layerError } from '../../onion/misuse.ts'
import { identityOf } from '../../ports/tenant.ts'
import type { EffectLog } from '../../session/scope/parent-call.ts'
import type { SuspendRequest } from '../../state/snapshot.ts'
import { AttemptInTurn } from '../../turn/attempt-in-turn.ts'
import type { ToolCall } from '../../turn/tool-call.ts'
import type { Turn } from '../../turn/turn.ts'
import type { Approval } from '../approval.ts'
import { checkArgs, refusedKey } from '../check-args.ts'
import type { ToolExecution } from '../tool.ts'
import { deniedResult, suspendedResult, type ToolResult, type ToolResultInput } from '../tool-result.ts'
import { toResult } from './to-result.ts'

type Args = Record<string, unknown>

/** The fields of a tool call that layers may change, and its approval. Attempts share them until one writes. */
export interface ToolFields {
  readonly args: Args
  /** The arguments for events and results, if a layer hides its changes from them. */
  readonly shown?: Args | undefined
  /** Why the arguments are invalid, if they are. */
  readonly invalid: readonly StandardSchemaV1.Issue[] | undefined
  /** Whether a layer may have changed the arguments since they were checked. */
  readonly changed: boolean
  readonly approved: boolean
  /** The arguments at the time when the layer that had suspended the call read its approval. */
  readonly consulted: Args | undefined
}

/** One attempt of a tool call, and the context of its layer. The core's attempt is the context of the tool itself. */
export class ToolAttempt extends AttemptInTurn<ToolCall> implements ToolContext {
  $fields: ToolFields
  /** Whether the arguments are its own copy. */
  $own = false
  /** Whether an inner layer, which has returned, could still change the arguments. */
  $borrowed = false
  /** The effects of its sub-agents, if its step runs in this process and is recorded. */
  $effectLog: EffectLog | undefined = undefined
  /** The layer's result from skipCall(). */
  $skip: ToolResult | undefined = undefined

  constructor(call: ToolCall, caller: ToolAttempt | undefined, number: number, cancel: Cancel) {
    super(call, caller, number, cancel)
    const { args, invalid } = call.sent
    this.$fields = caller?.$fields ?? { args, invalid, changed: false, approved: false, consulted: undefined }
  }

  override get $turn(): Turn {
    return this.$call.turn
  }

  get tool(): ToolContext['tool'] {
    const { name, registered } = this.$call
    const { description = '', jsonSchema = {} } = registered?.def ?? {}
    return {
      name,
      description,
      jsonSchema,
      requireApproval: registered?.tool.requireApproval !== undefined && registered.tool.requireApproval !== false,
      flow: registered?.tool.flow,
    }
  }
  get args(): Args {
    // After the layer has returned, the outer layers own its fields.
    if (!this.$own || this.$state !== State.running) {
      const args = cloneJson(this.$fields.args)
      if (this.$isMute('args')) return args
      this.$change({ args, changed: true })
      this.$own = true
    }
    return this.$fields.args
  }
  get invalid(): readonly StandardSchemaV1.Issue[] | undefined {
    return this.$fields.invalid
  }
  get callId(): string {
    return this.$call.callId
  }
  get callIndex(): number {
    return this.$call.requested.index
  }
  get attempt(): number {
    return this.$number
  }
  get stepId(): string {
    const interrupted = this.$number === 1 && this.$call.requested.suspension?.request?.interrupted
    return interrupted || `${this.$turn.turnId}:tool:${this.callId}:${this.$number}`
  }
  modifyArgs(given: Args | ((args: Args) => Args), { show }: { show?: boolean | undefined } = {}): void {
    const before = show === false ? cloneJson(this.$fields.args) : undefined
    const args = typeof given === 'function' ? given(this.args) : { ...this.args, ...given }
    if (typeof args !== 'object' || args === null || Array.isArray(args))
      throw layerError(this, 'layer.result', `passed ${describe(args)} as arguments. Pass an object.`)
    if (this.$isMute('modifyArgs')) return
    this.$change({ args, changed: true, invalid: refusedKey(args)?.issues })
    if (show === true) this.$change({ shown: undefined })
    if (show === false && this.$fields.shown === undefined) this.$change({ shown: before })
    this.$own = true
  }
  approve(who?: { by?: Identity | undefined; edited?: boolean; remembered?: boolean }): void {
    if (this.$isMute('approve')) return
    this.$change({ approved: true })
    if (who === undefined) return
    const { by, edited, remembered } = who
    // In another attempt, the remembered approval is the one that this call recorded.
    if (remembered === true && this.$call.approvalRecord !== undefined) return
    this.$call.approvalRecord = {
      decision: edited === true ? 'edited' : 'approved',
      ...(by !== undefined && { by: identityOf(by) }),
      ...(remembered === true && { remembered }),
    }
  }
  get approval(): Approval | undefined {
    const { approval, suspension } = this.$call.requested
    const isConsulted =
      this.$hook !== undefined && suspension?.layer === this.$hook.name && this.$fields.consulted === undefined
    if (isConsulted && !this.$isMute('approval')) this.$change({ consulted: cloneJson(this.$fields.args) })
    return approval
  }
  suspend(request: SuspendRequest = {}): ToolResult {
    return this.$isMute('suspend') ? suspendedResult(this.callId) : this.$call.suspend(this, request, this.$hook?.name)
  }
  deny(reason: string, who?: { by?: Identity | undefined }): ToolResult {
    if (this.$isMute('deny')) return deniedResult(this.callId, reason)
    if (who !== undefined && this.$call.denied === undefined)
      this.$call.approvalRecord = { decision: 'denied', ...(who.by !== undefined && { by: identityOf(who.by) }) }
    return this.$call.deny(reason)
  }
  skipCall(given: ToolResultInput): ToolResult {
    const result = toResult(this, given, 'skipped')
    if (!this.$isMute('skipCall')) this.$skip = result
    return result
  }
  $change(change: Partial<ToolFields>): void {
    this.$fields = { ...this.$fields, ...change }
  }
  override get $name(): string {
    return this.$hook?.name ?? this.$call.name
  }
  protected override onceKey(key: string): string {
    return `${this.onceScope}${key}`
  }
  protected override get onceScope(): string {
    return `tool:${this.$call.callId}:`
  }
}

type OfTool = ToolContext<unknown, unknown, unknown, unknown, unknown>

/** Returns the identity of the approver, if the run resumes with a decision on this call. */
export function approverOf(ctx: OfTool): Identity | undefined {
  return layerOf('approverOf()', ctx, ToolAttempt).$call.requested.approvalRecord?.by
}

/** Returns the tool call that runs the agent of this turn, if it is a sub-agent. Every layer gets the same, inherited or not. */
export function callerOf(ctx: TurnView<unknown, unknown, unknown, unknown>): ToolExecution | undefined {
  const { parent } = layerOf('callerOf()', ctx, AttemptInTurn).$turn.session
  return parent instanceof ToolAttempt ? parent : undefined
}

/** An approval request, and the layer that made it. Without a layer, the tool itself did. */
export interface ApprovalRequest {
  readonly by: string | undefined
  readonly request: Readonly<SuspendRequest>
}

/** Returns the approval request of the call, if the run resumes with a decision on it. */
export function approvalRequestOf(ctx: OfTool | ToolExecution): ApprovalRequest | undefined {
  const { suspension } = layerOf('approvalRequestOf()', ctx, ToolAttempt).$call.requested
  return suspension === undefined ? undefined : { by: suspension.layer, request: cloneJson(suspension.request ?? {}) }
}

/**
 * Returns the recipients of a call with these arguments, as the tool's `flow.to` computes them from the parsed
 * arguments. Undefined if the tool declares none. Rejects if the arguments do not fit or `flow.to` throws.
 */
export async function recipientsOf(ctx: OfTool): Promise<unknown> {
  const { $call, $fields, $agent } = layerOf('recipientsOf()', ctx, ToolAttempt)
  const tool = $call.registered?.tool
  if (tool?.flow?.to === undefined) return undefined
  const checked = await checkArgs(tool, cloneJson($fields.args), $agent.setup.validate)
  if (checked.issues !== undefined) throw new AlliumError('tool.invalid', formatIssues(checked.issues))
  return tool.flow.to(checked.value as never)
}
