import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../../errors/allium-error.ts'
import { describe } from '../../errors/describe.ts'
import type { JsonSchema } from '../../seams/validate.ts'
import type { SuspendRequest } from '../../state/snapshot.ts'
import type { State } from '../../state/state-store.ts'
import type { Approval } from '../../tool/approval.ts'
import type { ToolResult, ToolResultInput } from '../../tool/tool-result.ts'
import { type TurnContext, TurnView } from '../turn/context.ts'
import type { TurnScope } from '../turn/turn-scope.ts'
import type { ToolCall } from './tool-call.ts'

/** Tool scope: one execution of one tool. */
export interface ToolContext<S = State, Config = unknown, C = unknown, P = unknown, Args = Record<string, unknown>>
  extends TurnContext<S, Config, C, P> {
  readonly tool: {
    readonly name: string
    readonly description: string
    readonly jsonSchema: JsonSchema
    readonly requireApproval: boolean
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
  /** Merges an object into the arguments, or replaces them by what a function makes of the old ones. They are checked again. */
  modifyArgs(args: Record<string, unknown> | ((args: Args) => Record<string, unknown>)): void
  /** Approves a call of a tool that requires it. */
  approve(): void
  /** What a human has decided of this call, where the run resumes with it. */
  readonly approval: Approval | undefined
  /** Ends the run with this call waiting for a human: its siblings finish, `session.resume()` goes on. Gives the result. */
  suspend(request?: SuspendRequest): ToolResult
  /** Refuses the call: the model gets the reason, the tool does not run, nothing undoes it. Gives the result. */
  deny(reason: string): ToolResult
  /** Answers without the inner layers and the tool; gives the result. */
  skipCall(result: ToolResultInput): ToolResult
}

/** The call that a tool runs in. @throws AlliumError `layer.invalid` unless it is the context of one */
export function toolCallOf(ctx: unknown): ToolCall {
  if (ctx instanceof ToolView) return ToolView.callOf(ctx)
  throw new AlliumError(
    'layer.invalid',
    `A sub-agent runs inside a tool: give the context that execute(args, ctx) got, and not ${describe(ctx)}.`,
  )
}

export class ToolView extends TurnView implements ToolContext {
  static callOf(view: ToolView): ToolCall {
    return view.$call
  }
  protected override get $turn(): TurnScope {
    return this.$call.turn
  }
  protected get $call(): ToolCall {
    return this.$frame.passage as ToolCall
  }

  get tool(): ToolContext['tool'] {
    const { name, registered } = this.$call
    const { description = '', jsonSchema = {} } = registered?.def ?? {}
    return {
      name,
      description,
      jsonSchema,
      requireApproval: registered?.tool.requireApproval !== undefined && registered.tool.requireApproval !== false,
    }
  }
  get args(): Record<string, unknown> {
    return this.$call.argsOf(this.$frame)
  }
  get invalid(): readonly StandardSchemaV1.Issue[] | undefined {
    return this.$call.invalid
  }
  get callId(): string {
    return this.$call.callId
  }
  get callIndex(): number {
    return this.$call.asked.index
  }
  get attempt(): number {
    return this.$call.attempt
  }
  modifyArgs(args: Record<string, unknown> | ((args: Record<string, unknown>) => Record<string, unknown>)): void {
    this.$call.setArgs(this.$frame, typeof args === 'function' ? args(this.args) : { ...this.args, ...args })
    this.$call.invalid = undefined
  }
  approve(): void {
    this.$call.approved = true
  }
  get approval(): Approval | undefined {
    return this.$call.approvalFor(this.$frame)
  }
  suspend(request: SuspendRequest = {}): ToolResult {
    const { hook, index, passage } = this.$frame
    return this.$call.suspend(this.$frame, request, index < passage.hooks.length ? hook.name : undefined)
  }
  deny(reason: string): ToolResult {
    return this.$call.deny(reason)
  }
  skipCall(result: ToolResultInput): ToolResult {
    return this.$call.skip(this.$frame, result)
  }
  protected override onceKey(key: string): string {
    return `${this.$call.callId}:${key}`
  }
}
