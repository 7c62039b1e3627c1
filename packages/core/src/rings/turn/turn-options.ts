import type { CustomEvent, StreamEvent } from '../../events/events.ts'
import type { ApprovalRecord, Identity } from '../../messages/approval-record.ts'
import type { Message } from '../../messages/message.ts'
import type { KnownModel, ResponseFormat, Settings, ToolDef } from '../../model/model.ts'
import type { Onion } from '../../onion/hook.ts'
import type { Journal } from '../../seams/journal.ts'
import type { Suspension } from '../../state/snapshot.ts'
import type { Decision } from '../../tool/approval.ts'
import type { ToolRegistry } from '../../tool/registry.ts'

export type EndKind = 'aborted' | 'blocked' | 'failed'

/** Where the events of a run go. A promise asks the provider to wait for the reader. */
export interface RunEvents {
  push(event: StreamEvent | CustomEvent): void | Promise<void>
  /** The provider waits for no reader any more. */
  flow?(): void
}

/** What a run goes on from. */
export interface Resume {
  /** Absent where only the history of the session was restored. */
  readonly suspension: Suspension | undefined
  readonly decisions: ReadonlyMap<string, Decision>
  /** What is kept of each, by the id of its call. */
  readonly records: ReadonlyMap<string, Omit<ApprovalRecord, 'at'>>
  /** Who has decided: for the calls of sub-agents, too. */
  readonly decider: { readonly principal: unknown; readonly by: Identity }
}

/** When a run began, as its journal has it. */
export interface Began {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** It had begun before: this is a replay. */
  readonly before: boolean
}

export interface TurnOptions {
  /** @default the next one of the session */
  turnId: string | undefined
  journal: Journal
  /** Of a run that may be started again. */
  began: Began | undefined
  input: Message[]
  resume: Resume | undefined
  context: unknown
  model: KnownModel
  settings: Readonly<Settings>
  /** Those of the agent, and those that the client runs. */
  tools: ToolRegistry
  clientTools: readonly ToolDef[] | undefined
  maxSteps: number
  onion: Onion
  events: RunEvents
  /** What the first request of each model call has besides the agent's own, for an answer in a form. */
  format: { readonly responseFormat: ResponseFormat | undefined; readonly tool: ToolDef | undefined } | undefined
  /** Whether another attempt of a model call may take back what has reached the reader. */
  resets: 'allow' | 'refuse'
  /** What who asks again with the same key is known by. */
  storedAs: { readonly idempotencyKey: string | undefined; readonly inputDigest: string } | undefined
}
