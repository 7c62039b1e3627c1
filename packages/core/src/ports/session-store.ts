import type { Message, ToolCallPart, ToolStatus } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'
import type { Snapshot } from '../state/snapshot.ts'

/** Identifies a stored session. Sessions of different tenants, owners or agents are separate even with equal ids. */
export interface SessionKey {
  /** @default '' if the principal has none */
  readonly tenant: string
  /** @default '' if neither the principal nor the agent's `owner` has one */
  readonly owner: string
  /** The name under which the agent stores its sessions: its `sessionGroup`, else its `name`. Never empty. */
  readonly agent: string
  readonly sessionId: string
}

/**
 * The status of a stored run: `running` for a checkpoint, `interrupted` if its process was lost, `closed` for changes that session
 * layers made while the session closed, `rewound` for a session that returned to an earlier turn. Otherwise the status of `turn:end`.
 */
export type StoredStatus =
  | 'running'
  | 'interrupted'
  | 'closed'
  | 'rewound'
  | 'completed'
  | 'stopped'
  | 'suspended'
  | 'blocked'
  | 'aborted'
  | 'failed'

/** One run of a session. Its messages replace the history from index `from` on. */
export interface StoredTurn {
  turnId: string
  /** The id of the turn's first run, before any resume. */
  rootId: string
  /** The run that this one resumed. */
  resumes?: string
  /** The name of the agent that ran it. */
  agent: string
  /** The agent's `version`. */
  version?: string
  status: StoredStatus
  /** Why it was stopped, blocked, aborted or failed. */
  reason?: string
  /** The code of the error, or of the block. */
  code?: string
  /** Milliseconds since the epoch. */
  startedAt: number
  /** Milliseconds since the epoch; absent while it runs. */
  endedAt?: number
  usage: Usage
  /** The answer's text; null if there is none. */
  answer: string | null
  /** The finish reason of the last model call. */
  finishReason?: 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other'
  /** The tool calls of the run in the model's order, with the arguments that ran. Their results are in the messages. */
  calls?: (Pick<ToolCallPart, 'callId' | 'name' | 'args'> & { status: ToolStatus })[]
  /** A repeated request with this key gets this run. */
  idempotencyKey?: string
  /** Digest of the input that belongs to the key. */
  inputDigest?: string
  /** Records of `record(ctx, …)`, for the outbox. */
  records: StoredRecord[]
  /** Index of the first message in the history. It replaces the messages from this index on. */
  from: number
  messages: Message[]
  /** The rest of the session's snapshot after this turn. */
  rest: Omit<Snapshot, 'history'>
}

/** A record that `record(ctx, …)` stores with the turn. */
export interface StoredRecord {
  /** Unique, and the same if the turn runs again. */
  id: string
  topic: string
  data: unknown
  /** Milliseconds since the epoch. */
  at: number
}

/** The right to append to a session for a limited time. */
export interface Lease {
  readonly key: SessionKey
  /** Fencing token. It grows with each lease, and the store rejects writes with an older one. */
  readonly token: number
  /** Number of turns appended before. */
  readonly version: number
  /** Set if a checkpointed run has not ended because its process was lost. */
  readonly open?: true
}
