import type { Identity } from '../messages/approval-record.ts'
import type { Message, ProviderApprovalRequest } from '../messages/message.ts'

/** What `ctx.suspend()` takes: anything that the human should see. */
export interface SuspendRequest {
  reason?: string
  /** Milliseconds that the approval may take. @default the agent's `approvals.expiresIn` */
  expiresIn?: number
  [field: string]: unknown
}

/** A tool call that waits for a human. */
export interface PendingCall {
  callId: string
  name: string
  /** Those that are to run, where it was suspended: with what layers outside have put into them. */
  args: Record<string, unknown>
  /** What the layer or tool that suspended it says of it. */
  request?: SuspendRequest
  /** Milliseconds since the epoch; from then on it can only be refused. */
  expiresAt?: number
  /** Stands for this very call: its agent, tool, arguments, tenant and expiry. */
  token?: string
  /** The client runs it, and `resume()` brings its `{ result }`. */
  client?: true
  /** The provider asks, and runs it: it cannot be approved with other arguments. */
  provider?: string
  /** The sub-agents that lead to the call, outermost first. */
  path?: readonly string[]
  /** Why the last decision was refused, where only a sub-agent could find that. */
  refused?: string
}

/** A suspended call as a session keeps it: digests, so that what is approved is what runs. */
export interface SuspendedCall {
  name: string
  /** The run that suspended it. */
  turnId: string
  /** The name of the agent that suspended it, and decides it; absent in records of earlier versions. */
  agent?: string
  /** The agent's version then. */
  version?: string
  /** The client runs it: it waits for a result. */
  client?: true
  /** The provider asks for the approval, and runs the call. */
  approvalRequest?: ProviderApprovalRequest
  /** The layer that suspended it; absent where the tool itself requires approval. */
  layer?: string
  /** Digest of the arguments that the model sent. */
  sent: string
  /** Digest of those that were to run, where it stood. */
  args: string
  /** Those, where they are others than the model sent: for who decides, and for nobody else. */
  ran?: Record<string, unknown>
  /** Digest of the tool's JSON Schema. */
  schema: string
  tenant?: string
  /** Who ran the turn. */
  asked?: Identity
  expiresAt?: number
  request?: SuspendRequest
  token: string
  /** The sub-agent that waits inside the call. */
  inner?: Inner
  /** Digest of that. */
  inside?: string
}

/** A sub-agent that waits, and its session. */
export interface Inner {
  agent: string
  snapshot: Snapshot
}

/** A turn that waits: what its next run goes on from. */
export interface Suspension {
  /** The run that was suspended. */
  turnId: string
  /** The first run of the turn. */
  rootId: string
  stepIndex: number
  /** Why a layer had asked the loop to end. */
  stopReason?: string
  /** State of scope `turn`. */
  state: Record<string, unknown>
  calls: Record<string, SuspendedCall>
  /** The tools that the client runs, where it has some: as a model knows them. */
  clientTools?: readonly { name: string; description: string; jsonSchema: Record<string, unknown> }[]
}

/** A conversation at rest: all that outlives a process. Plain data; JSON, but for bytes and URLs in messages. */
export interface Snapshot {
  history: Message[]
  state: Record<string, unknown>
  /** Turns that have ended. */
  turnCount?: number
  /** Runs so far: a turn that was resumed had several. */
  runCount?: number
  /** The turn that waits for a decision, if one does. */
  suspension?: Suspension
  /** Results of `ctx.once()` of the turn that waits. */
  once?: Record<string, unknown>
  /** Approvals that were used. */
  usedApprovals?: string[]
}
