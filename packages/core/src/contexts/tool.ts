import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Identity } from '../messages/message.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../ports/register.ts'
import type { JsonSchema } from '../ports/validate.ts'
import type { SuspendRequest } from '../state/snapshot.ts'
import type { State } from '../state/state-store.ts'
import type { Approval } from '../tool/approval.ts'
import type { ToolFlow } from '../tool/flow.ts'
import type { ToolResult, ToolResultInput } from '../tool/tool-result.ts'
import type { TurnView } from './turn.ts'

/** Tool scope: one execution of one tool. */
export interface ToolContext<
  S = State,
  Config = unknown,
  C = RegisteredContext,
  P = RegisteredPrincipal,
  Args = Record<string, unknown>,
> extends TurnView<S, Config, C, P> {
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
}
