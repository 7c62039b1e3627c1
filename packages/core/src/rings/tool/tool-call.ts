import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ApprovalRecord } from '../../messages/approval-record.ts'
import { cloneJson } from '../../messages/json.ts'
import type { ToolCall as CallOfModel } from '../../model/response.ts'
import type { Ring } from '../../onion/attempt.ts'
import type { Inner, SuspendedCall, SuspendRequest } from '../../state/snapshot.ts'
import type { Approval, Decision } from '../../tool/approval.ts'
import type { RegisteredTool } from '../../tool/registry.ts'
import { deniedResult, type ToolResult } from '../../tool/tool-result.ts'
import type { Turn } from '../turn/turn.ts'
import { TurnCall } from '../turn/turn-call.ts'

type Args = Record<string, unknown>

/** A call that a tool of the agent answers. */
export interface RequestedCall {
  readonly call: CallOfModel
  /** Its place among the calls of its answer. */
  readonly index: number
  /** Why the arguments are no JSON object, or not whole. */
  readonly problem: string | undefined
  readonly approval: Approval | undefined
  /** What is kept of that. */
  readonly approvalRecord?: Omit<ApprovalRecord, 'at'> | undefined
  /** How it waited, where the run resumes. */
  readonly suspension: SuspendedCall | undefined
  /** What was decided of the calls of a sub-agent that waits inside. */
  readonly inner?: Record<string, Decision> | undefined
}

/** How a call waits that a layer, or the tool itself, has suspended. */
export interface PendingSuspension {
  readonly request: SuspendRequest
  /** The arguments where it stood. */
  readonly args: Args
  readonly layer: string | undefined
  readonly inner: Inner | undefined
}

/** Arguments before any layer has seen them. */
export interface SentArgs {
  readonly args: Args
  readonly invalid: readonly StandardSchemaV1.Issue[] | undefined
  /** What the schema threw, for logs and observers. */
  readonly cause?: unknown
}

/** One execution of one tool; attempts of it may be several. */
export class ToolCall extends TurnCall {
  /** Sticks: nothing undoes it. */
  denied: ToolResult | undefined
  /** The result of a call that waits for a human. Sticks, but a deny beats it. */
  suspended: ToolResult | undefined
  /** How it waits; no layer sees it, for what a sub-agent waits with is in it. */
  pendingSuspension: PendingSuspension | undefined
  /** Called with the arguments, as records show them, when the core of the call is reached. */
  begins: ((args: Args) => void) | undefined
  /** The provider that asked may run the call. */
  permitted = false
  /** What is kept of an approval in this run, of a layer that asked somebody itself. */
  approvalRecord: Omit<ApprovalRecord, 'at'> | undefined

  constructor(
    turn: Turn,
    ring: Ring,
    readonly requested: RequestedCall,
    /** The arguments as the model sent them, and why they are refused, if they are. */
    readonly sent: SentArgs,
    readonly registered: RegisteredTool | undefined,
    /** What the schema made of the arguments. */
    readonly parsed: unknown,
  ) {
    super(ring, turn.options.onion.tool, turn)
  }

  get callId(): string {
    return this.requested.call.callId
  }
  get name(): string {
    return this.requested.call.name
  }

  /** The result that layers see of a call that waits. */
  get suspendedResult(): ToolResult {
    return { callId: this.callId, content: 'Waiting for a decision.', status: 'suspended' }
  }

  deny(reason: string): ToolResult {
    this.denied ??= deniedResult(this.callId, reason)
    return this.denied
  }

  /** Ends the run with this call waiting, unless it is denied. */
  suspend(
    { $fields: { args } }: { $fields: { args: Args } },
    request: SuspendRequest,
    layer?: string,
    inner?: Inner,
  ): ToolResult {
    if (this.suspended === undefined) {
      this.suspended = this.suspendedResult
      this.pendingSuspension = { request: cloneJson(request), args: cloneJson(args), layer, inner }
    }
    return this.denied ?? this.suspended
  }

  /** A human's refusal takes effect where the call was suspended, so that the layers outside see it as any other deny. */
  applyDecision(layer: string | undefined): void {
    const { approval, suspension } = this.requested
    if (approval !== undefined && 'deny' in approval && layer !== undefined && suspension?.layer === layer)
      this.deny(approval.deny)
  }
}
