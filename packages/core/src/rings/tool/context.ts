import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../../errors/allium-error.ts'
import { describe } from '../../errors/describe.ts'
import type { Identity } from '../../messages/approval-record.ts'
import { cloneJson } from '../../messages/json.ts'
import { State as Stand } from '../../onion/attempt.ts'
import { layerError, nameOf } from '../../onion/misuse.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../../seams/register.ts'
import { sealOf } from '../../seams/seal.ts'
import { identityOf, tenantOf } from '../../seams/tenant.ts'
import type { JsonSchema } from '../../seams/validate.ts'
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

/** What layers may change of a tool call, and what permits it. Shared by attempts until one of them writes. */
export interface ToolFields {
  readonly args: Args
  /** The arguments for events and results, where a layer keeps its own change out of them. */
  readonly shown?: Args | undefined
  /** Why the arguments are refused, if they are. */
  readonly invalid: readonly StandardSchemaV1.Issue[] | undefined
  /** A layer may have changed the arguments since they were checked. */
  readonly changed: boolean
  readonly approved: boolean
  /** The arguments for which the layer that had suspended the call looked at its approval. */
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
    /** What it says that it brings in and lets out, if it does. */
    readonly flow: ToolFlow<never> | undefined
  }
  /** The arguments in the form that the model sent; `{}` where they were no JSON object. */
  readonly args: Args
  /** Why the arguments are refused, if they are: the tool does not run unless a layer mends them with modifyArgs. */
  readonly invalid: readonly StandardSchemaV1.Issue[] | undefined
  readonly callId: string
  /** Counts the tool calls of this answer from 0. */
  readonly callIndex: number
  /** Counts the attempts of this call from 1. */
  readonly attempt: number
  /** The id of this execution: it is the same where the run is cut off and started again. */
  readonly stepId: string
  /**
   * Merges an object into the arguments, or replaces them by what a function makes of the old ones. They are checked again.
   *
   * @param options `show: false` keeps this change, and those that follow, out of `tool:start` and `result.toolCalls`, for
   * values that only the tool may see; `true` shows the arguments again @default changes are shown
   */
  modifyArgs(
    args: Record<string, unknown> | ((args: Args) => Record<string, unknown>),
    options?: { show?: boolean | undefined },
  ): void
  /**
   * Approves a call of a tool that requires it.
   *
   * @param who where somebody was asked: kept beside the result @default nobody was
   */
  approve(who?: { by?: Identity | undefined; edited?: boolean; remembered?: boolean }): void
  /** What a human has decided of this call, where the run resumes with it. */
  readonly approval: Approval | undefined
  /** Who has decided it, where the run resumes with a decision. */
  readonly decidedBy: Identity | undefined
  /** What was asked of a human, where the run resumes with the answer: by which layer (undefined: the tool itself), and its request. */
  readonly asked: { readonly by: string | undefined; readonly request: Readonly<SuspendRequest> } | undefined
  /** Ends the run with this call waiting for a human: its siblings finish, `session.resume()` goes on. Gives the result. */
  suspend(request?: SuspendRequest): ToolResult
  /**
   * Refuses the call: the model gets the reason, the tool does not run, nothing undoes it. Gives the result.
   *
   * @param who where somebody was asked: kept beside the result @default nobody was
   */
  deny(reason: string, who?: { by?: Identity | undefined }): ToolResult
  /** Answers without the inner layers and the tool; gives the result. */
  skipCall(result: ToolResultInput): ToolResult
  /**
   * A mark over a JSON-like value, for what a layer keeps in the state and trusts later, such as an approval that it remembers. It holds for
   * this tenant and owner, and is signed with the agent's `approvals.secret`; without one it is a digest, which shows a change but no forgery.
   */
  seal(value: unknown): Promise<string>
  /** Whom a call with these arguments would reach, as `flow.to` of the tool says of what `execute` gets; undefined where it says nothing. What it throws, and arguments that do not fit, reject. */
  recipients(): Promise<unknown>
}

/** The call that a tool runs in. @throws AlliumError `layer.invalid` unless it is the context of one */
export function toolAttemptOf(ctx: unknown): ToolAttempt {
  if (ctx instanceof ToolAttempt) return ctx
  throw new AlliumError(
    'layer.invalid',
    `A sub-agent runs inside a tool. Pass the context of execute(args, ctx), not ${describe(ctx)}.`,
  )
}

/** One attempt of a tool call, and the context of the layer that stands in it; the core's is that of the tool itself. */
export class ToolAttempt extends TurnAttempt implements ToolContext {
  declare readonly $call: ToolCall
  $fields: ToolFields = undefined as never // set where the attempt is opened
  /** The arguments are its own copy. */
  $own = false
  /** A layer inside, which has returned, could still reach into the arguments. */
  $borrowed = false
  /** What its sub-agents do, where its step runs here and is recorded. */
  $effectLog: EffectLog | undefined = undefined
  /** The result of its layer, which skips the call. */
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
    // The layers outside have its fields once it has returned.
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
    // In another attempt of the call what is remembered is its own.
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
  get decidedBy(): Identity | undefined {
    return this.$call.requested.approvalRecord?.by
  }
  get asked(): ToolContext['asked'] {
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
