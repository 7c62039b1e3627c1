import type { LayerEvent, Message, ModelResponse, RunResult, StreamEvent, ToolResult } from '@allium/core'
import type { RecordedRequest } from './scripted-model.ts'

/** What one hook did. */
export interface LayerRun {
  /** Model scope: what left the hook at its last call. */
  response: ModelResponse | undefined
  /** Tool scope: what left the hook. */
  toolResult: ToolResult | undefined
  /** The turn around it, unless it rejected. */
  result: RunResult | undefined
  /** What the hook, or the turn around it, threw. */
  error: unknown
  /** The stream of the turn, as a reader saw it. */
  events: (StreamEvent | LayerEvent)[]
  /** What reached the model. */
  requests: readonly RecordedRequest[]
  /** What reached the tool, one entry for each time it ran. */
  executed: Record<string, unknown>[]
  /** The session's state and history afterwards. */
  state: Record<string, unknown>
  history: readonly Message[]
}
