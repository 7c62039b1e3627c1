import type { ApprovalRecord, Identity, Message } from '../messages/message.ts'
import type { KnownModel, ResponseFormat, Settings, ToolDef } from '../model/model.ts'
import type { Onion } from '../onion/hook.ts'
import type { Journal } from '../ports/journal.ts'
import type { Suspension } from '../state/snapshot.ts'
import type { RunEvents } from '../stream/event-queue.ts'
import type { Decision } from '../tool/approval.ts'
import type { ToolRegistry } from '../tool/registry.ts'

export type EndKind = 'aborted' | 'blocked' | 'failed'

/** The state that a run resumes from. */
export interface Resume {
  /** Undefined if only the history of the session was restored. */
  readonly suspension: Suspension | undefined
  readonly decisions: ReadonlyMap<string, Decision>
  /** The approval record of each decision, by call id. */
  readonly records: ReadonlyMap<string, Omit<ApprovalRecord, 'at'>>
  /** Who decided. Also used for calls of sub-agents. */
  readonly approver: { readonly principal: unknown; readonly by: Identity }
}

/** When a run started, according to its journal. */
export interface Began {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Whether it had started before, so this is a replay. */
  readonly before: boolean
}

export interface TurnOptions {
  /** @default the next id of the session */
  turnId: string | undefined
  journal: Journal
  /** Set for a run that may be started again. */
  began: Began | undefined
  input: Message[]
  resume: Resume | undefined
  context: unknown
  model: KnownModel
  settings: Readonly<Settings>
  /** The agent's tools and the client's tools. */
  tools: ToolRegistry
  clientTools: readonly ToolDef[] | undefined
  maxSteps: number
  onion: Onion
  events: RunEvents
  /** What each model call starts with for structured output, in addition to the agent's settings. */
  format: { readonly responseFormat: ResponseFormat | undefined; readonly tool: ToolDef | undefined } | undefined
  /** Whether a retry of a model call may take back chunks that have reached the reader. */
  onRetryAfterOutput: 'reset' | 'fail'
  /** Identifies a repeated request with the same key. */
  storedAs: { readonly idempotencyKey: string | undefined; readonly inputDigest: string } | undefined
}
