import type { PendingCall, ToolDef, Usage } from '@allium/core'
import { needsApproval, type WireCall } from './client-tool-calls.ts'
import type { OutputFormat } from './output-format.ts'

/** The fields that all forms of a response share. */
export interface ResponseMeta {
  readonly model: string
  /** Undefined if the session is not stored. */
  readonly sessionId: string | undefined
  readonly previous: string | null
  readonly metadata: Readonly<Record<string, string>>
  /** The client's tools. @default none */
  readonly tools?: readonly ToolDef[] | undefined
  /** The format of the answer. @default text */
  readonly format?: OutputFormat | undefined
  /** Seconds since the epoch. */
  readonly created: number
}

/** The state of a response. */
export interface ResponseState {
  readonly id: string
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly output: readonly object[]
  /** Seconds since the epoch. */
  readonly ended?: number
  readonly reason?: string | undefined
  readonly error?: { code: string; message: string }
  readonly usage?: Usage
}

/**
 * Returns a run as a response, with every field that the specification requires: https://www.openresponses.org/reference.
 * The agent owns the settings, so their fields have the values that the specification defines for unset ones.
 */
export function responseOf(
  { model, sessionId, previous, metadata, tools = [], format, created }: ResponseMeta,
  state: ResponseState,
): object {
  const { id, status, output, ended, reason, error, usage } = state
  return {
    id,
    object: 'response',
    created_at: created,
    completed_at: (status === 'completed' && ended) || null,
    status,
    incomplete_details: reason === undefined ? null : { reason },
    model,
    previous_response_id: previous,
    output,
    error: error ?? null,
    usage: usage === undefined ? null : usageOf(usage),
    store: sessionId !== undefined,
    metadata: sessionId === undefined ? metadata : { ...metadata, session_id: sessionId },
    ...settings,
    text: { format: format ?? { type: 'text' } },
    tools: tools.map(functionTool),
  }
}

const settings = {
  instructions: null,
  tool_choice: 'auto',
  truncation: 'disabled',
  parallel_tool_calls: true,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  temperature: 1,
  reasoning: null,
  user: null,
  max_output_tokens: null,
  max_tool_calls: null,
  background: false,
  service_tier: 'default',
  safety_identifier: null,
  prompt_cache_key: null,
}

/** A message of the answer. */
export function messageItem(id: string, status: 'in_progress' | 'completed' | 'incomplete', texts: string[]): object {
  return { type: 'message', id, status, role: 'assistant', content: texts.map(textPart) }
}

/** A call that the client must run. */
export function callItem({ id: callId, function: { name, arguments: args } }: WireCall, id: string): object {
  return { type: 'function_call', id, status: 'completed', call_id: callId, name, arguments: args }
}

function functionTool({ name, description, jsonSchema }: ToolDef): object {
  return { type: 'function', name, description, parameters: jsonSchema, strict: null }
}

export function textPart(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

/** Returns the status of an ended run, and why it is incomplete. */
export function statusOf(
  run: string,
  finish: string | undefined,
  pending: readonly PendingCall[] = [],
): Pick<ResponseState, 'status' | 'reason'> {
  if (run === 'blocked' || finish === 'content-filter') return { status: 'incomplete', reason: 'content_filter' }
  if (finish === 'length') return { status: 'incomplete', reason: 'max_output_tokens' }
  if (needsApproval(pending)) return { status: 'incomplete', reason: 'approval' }
  if (run === 'completed' || run === 'suspended') return { status: 'completed' }
  return run === 'failed' ? { status: run } : { status: 'incomplete', reason: run }
}

/** Returns the status of the last message of an ended response. */
export function lastItemStatus({ status }: Pick<ResponseState, 'status'>): 'completed' | 'incomplete' {
  return status === 'incomplete' || status === 'failed' ? 'incomplete' : 'completed'
}

function usageOf({ inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 }: Usage): object {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  }
}
