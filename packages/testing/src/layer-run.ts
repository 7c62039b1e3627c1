import type { LayerEvent, Message, ModelResponse, RunResult, StreamEvent, ToolResult } from '@allium/core'
import type { RecordedRequest } from './scripted-model.ts'

/** The outcome of one hook. */
export interface LayerRun {
  /** Model scope: the hook's result at its last call. */
  response: ModelResponse | undefined
  /** Tool scope: the hook's result. */
  toolResult: ToolResult | undefined
  /** The result of the turn around it, unless it rejected. */
  result: RunResult | undefined
  /** The error of the hook or of the turn around it. */
  error: unknown
  /** The stream of the turn, as a reader received it. */
  events: (StreamEvent | LayerEvent)[]
  /** The requests that reached the model. */
  requests: readonly RecordedRequest[]
  /** The arguments that reached the tool, one entry per call. */
  executed: Record<string, unknown>[]
  /** The session's state and history after the run. */
  state: Record<string, unknown>
  history: readonly Message[]
}
