import type { Identity, Message, ProviderApprovalRequest } from '../messages/message.ts'

/** The parameter of `ctx.suspend()`: any fields that the human should see. */
export interface SuspendRequest {
  reason?: string
  /** How long the approval may take, in milliseconds. @default the agent's `approvals.expiresIn` */
  expiresIn?: number
  /** The `stepId` of the execution that was interrupted, if the call was started and its outcome is unknown. Approved, it gets this id again. */
  interrupted?: string
  [field: string]: unknown
}

/** A tool call that waits for a human's decision. */
export interface PendingCall {
  callId: string
  name: string
  /** The arguments that would run, at the point where it was suspended. Includes changes by outer layers. */
  args: Record<string, unknown>
  /** The request of the layer or tool that suspended it. */
  request?: SuspendRequest
  /** Milliseconds since the epoch. After that, the call can only be denied. */
  expiresAt?: number
  /** Identifies exactly this call: its agent, tool, arguments, tenant and expiry. */
  token?: string
  /** The client runs it, and passes its `{ result }` to `resume()`. */
  client?: true
  /** The provider that requests the approval and runs the call. It cannot be approved with other arguments. */
  provider?: string
  /** The path of sub-agents to the call, outermost first. */
  path?: readonly string[]
  /** Why the last decision was rejected, if only a sub-agent could detect that. */
  refused?: string
}

/** A suspended call as stored in the session. Its digests ensure that the approved call is the one that runs. */
export interface SuspendedCall {
  name: string
  /** The run that suspended it. */
  turnId: string
  /** The name of the agent that suspended it and decides it. */
  agent: string
  /** The agent's version at that time. */
  version?: string
  /** Whether the client runs it, so that it waits for a result. */
  client?: true
  /** The provider requests the approval, and runs the call. */
  approvalRequest?: ProviderApprovalRequest
  /** The layer that suspended it; absent if the tool itself requires approval. */
  layer?: string
  /** Digest of the arguments that the model sent. */
  sent: string
  /** Digest of the arguments that would run, at the point where it was suspended. */
  args: string
  /** Those arguments, if they differ from the ones that the model sent. Only for approvers. */
  ran?: Record<string, unknown>
  /** Digest of the tool's JSON Schema. */
  schema: string
  tenant?: string
  /** The identity that ran the turn. */
  requestedBy?: Identity
  expiresAt?: number
  request?: SuspendRequest
  token: string
  /** The suspended sub-agent inside the call. */
  inner?: Inner
  /** Digest of `inner`. */
  inside?: string
}

/** A suspended sub-agent with its session. */
export interface Inner {
  agent: string
  snapshot: Snapshot
}

/** A suspended turn: the data that its next run needs. */
export interface Suspension {
  /** The run that was suspended. */
  turnId: string
  /** The first run of the turn. */
  rootId: string
  stepIndex: number
  /** Why a layer requested a stop of the loop. */
  stopReason?: string
  calls: Record<string, SuspendedCall>
  /** The client's tools, if there are any, with the fields that the model sees. */
  clientTools?: readonly { name: string; description: string; jsonSchema: Record<string, unknown> }[]
}

/** A session between runs, with all data that must outlive the process. Plain JSON data, except bytes and URLs in messages. */
export interface Snapshot {
  history: Message[]
  state: Record<string, unknown>
  /** Number of ended turns. */
  turnCount?: number
  /** Number of runs. A resumed turn has several. */
  runCount?: number
  /** The suspended turn, if there is one. */
  suspension?: Suspension
  /** Results of `ctx.once()` in the suspended turn. */
  once?: Record<string, unknown>
  /** Keys of used approvals. */
  usedApprovals?: string[]
}
