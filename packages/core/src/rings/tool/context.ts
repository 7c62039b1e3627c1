import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../../errors/allium-error.ts'
import { describe } from '../../errors/describe.ts'
import type { Identity } from '../../messages/approval-record.ts'
import { cloneJson } from '../../messages/json.ts'
import { State as Stand } from '../../onion/attempt.ts'
import { layerError, nameOf } from '../../onion/misuse.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../../ports/register.ts'
import { sealOf } from '../../ports/seal.ts'
import { identityOf, tenantOf } from '../../ports/tenant.ts'
import type { JsonSchema } from '../../ports/validate.ts'
import type { SuspendRequest } from '../../state/snapshot.ts'
import type { State } from '../../state/state-store.ts'
import type { Approval } from '../../tool/approval.ts'
import { checkArgs, formatIssues, refusedKey } from '../../tool/check-args.ts'
import type { ToolFlow } from '../../tool/flow.ts'
import { deniedResult, type ToolResult, type ToolResultInput } from '../../tool/tool-result.ts'
import { TurnAttempt, type TurnContext } from '../turn/context.ts'
import type { EffectLog } from '../turn/effect-log.ts'
import type { Turn } from '../turn/turn.ts'
import { toResult } from './to-result.ts'
import type { ToolCall } from './tool-call.ts'

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

/** Tool scope: one execution of one tool. */
export interface ToolContext<
  S = State,
  Config = unknown,
  C = RegisteredContext,
  P = RegisteredPrincipal,
  Args = Record<string, unknown>,
> extends TurnContext<S, Config, C, P> {
  readonly tool: {
    readonly name: string
    readonly description: string
    readonly jsonSchema: JsonSchema
    readonly requireApproval: boolean
    /** The data flow that the tool declares, if any. */
    readonly flow: ToolFlow<never> | undefined
  }
  /** The arguments in the form that the model sent. `{}` if they were not a JSON object. */
  readonly args: Args
  /** Why the arguments are invalid, if they are. The tool does not run unless a layer fixes them with modifyArgs. */
  readonly invalid: readonly StandardSchemaV1.Issue[] | undefined
  readonly callId: string
  /** Counts the tool calls of this answer from 0. */
  readonly callIndex: number
  /** Counts the attempts of this call from 1. */
  readonly attempt: number
  /** The id of this execution. It stays the same if the run is cut off and started again. */
  readonly stepId: string
  /**
   * Merges an object into the arguments, or replaces them with the return value of a function. The new arguments are
   * validated again.
   *
   * @param options `show: false` hides this change and later ones from `tool:start` and `result.toolCalls`, for values
   * that only the tool may see. `true` shows the arguments again. @default changes are shown
   */
  modifyArgs(
    args: Record<string, unknown> | ((args: Args) => Record<string, unknown>),
    options?: { show?: boolean | undefined },
  ): void
  /**
   * Approves a call of a tool that requires approval.
   *
   * @param who who approved it, if an approver was asked; stored with the result @default no approver
   */
  approve(who?: { by?: Identity | undefined; edited?: boolean; remembered?: boolean }): void
  /** The approver's decision on this call, if the run resumes with one. */
  readonly approval: Approval | undefined
  /** The identity of the approver, if the run resumes with a decision. */
  readonly approver: Identity | undefined
  /**
   * The approval request, if the run resumes with a decision: the layer that made it (undefined: the tool itself) and
   * its details.
   */
  readonly approvalRequest: { readonly by: string | undefined; readonly request: Readonly<SuspendRequest> } | undefined
  /**
   * Suspends the call until it is approved or denied. Its sibling calls finish, then the run ends. `session.resume()`
   * continues it. Returns the result.
   */
  suspend(request?: SuspendRequest): ToolResult
  /**
   * Denies the call. The model receives the reason, the tool does not run, and no layer can undo it. Returns the
   * result.
   *
   * @param who who denied it, if an approver was asked; stored with the result @default no approver
   */
  deny(reason: string, who?: { by?: Identity | undefined }): ToolResult
  /** Answers without calling the inner layers and the tool. Returns the result. */
  skipCall(result: ToolResultInput): ToolResult
  /**
   * Returns a seal over a JSON-like value, for data that a layer stores in the state and trusts later, such as a
   * remembered approval. The seal is valid for this tenant and owner. It is signed with the agent's `approvals.secret`.
   * Without a secret it is a digest, which detects a change but not a forgery.
   */
  seal(value: unknown): Promise<string>
  /**
   * Returns the recipients of a call with these arguments, as the tool's `flow.to` computes them from the parsed
   * arguments. Undefined if the tool declares none. Rejects if the arguments do not fit or `flow.to` throws.
   */
  recipients(): Promise<unknown>
}

/** Returns the tool attempt of a context. @throws AlliumError `layer.invalid` if it is not the context of a tool call */
export function toolAttemptOf(ctx: unknown): ToolAttempt {
  if (ctx instanceof ToolAttempt) return ctx
  throw new AlliumError(
    'layer.invalid',
    `A sub-agent runs inside a tool. Pass the context of execute(args, ctx), not ${describe(ctx)}.`,
  )
}

/** One attempt of a tool call, and the context of its layer. The core's attempt is the context of the tool itself. */
export class ToolAttempt extends TurnAttempt implements ToolContext {
  declare readonly $call: ToolCall
  $fields: ToolFields = undefined as never // set when the attempt is opened
  /** Whether the arguments are its own copy. */
  $own = false
  /** Whether an inner layer, which has returned, could still change the arguments. */
  $borrowed = false
  /** The effects of its sub-agents, if its step runs in this process and is recorded. */
  $effectLog: EffectLog | undefined = undefined
  /** The layer's result from skipCall(). */
  $skip: ToolResult | undefined = undefined

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
    if (!this.$own || this.$state !== Stand.running) {
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
    return `${this.$turn.turnId}:tool:${this.callId}:${this.$number}`
  }
  modifyArgs(given: Args | ((args: Args) => Args), { show }: { show?: boolean | undefined } = {}): void {
    const before = show === false ? cloneJson(this.$fields.args) : undefined
    const args = typeof given === 'function' ? given(this.args) : { ...this.args, ...given }
    if (typeof args !== 'object' || args === null || Array.isArray(args))
      throw layerError(this, 'layer.result', `gave ${describe(args)} as arguments. They are an object.`)
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
  get approver(): Identity | undefined {
    return this.$call.requested.approvalRecord?.by
  }
  get approvalRequest(): ToolContext['approvalRequest'] {
    const { suspension } = this.$call.requested
    return suspension === undefined ? undefined : { by: suspension.layer, request: cloneJson(suspension.request ?? {}) }
  }
  async recipients(): Promise<unknown> {
    const tool = this.$call.registered?.tool
    if (tool?.flow?.to === undefined) return undefined
    const checked = await checkArgs(tool, cloneJson(this.$fields.args), this.$agent.setup.validate)
    if (checked.issues !== undefined) throw new AlliumError('tool.invalid', formatIssues(checked.issues))
    return tool.flow.to(checked.value as never)
  }
  seal(value: unknown): Promise<string> {
    const { agent, owner, principal } = this.$owner
    return sealOf(['kept', tenantOf(principal) ?? null, owner ?? null, value], agent.setup.approvals.secret)
  }
  suspend(request: SuspendRequest = {}): ToolResult {
    return this.$isMute('suspend') ? this.$call.suspendedResult : this.$call.suspend(this, request, this.$hook?.name)
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
    return this.$hook === undefined ? this.$call.name : nameOf(this)
  }
  protected override onceKey(key: string): string {
    return `${this.$call.callId}:${key}`
  }
  protected override get onceScope(): string {
    return `tool:${this.$call.callId}:`
  }
}
