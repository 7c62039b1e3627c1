import {
  type Answer,
  type Call,
  type ErrorEvent,
  type Finish,
  type Format,
  type Json,
  usage,
  type WireEvent,
} from '../format.ts'
import { halves } from './halves.ts'
import { chatProblems } from './openai-chat-rules.ts'
import { data } from './sse.ts'

/** How a provider of the chat format differs from OpenAI. */
export interface ChatDialect {
  name: string
  source?: Format['source']
  /** Returns the delta for a piece of reasoning; absent if answers have none. */
  reasoning?: (text: string) => Json
  /** The rule for ids of tool calls. */
  callId?: RegExp
  /** Ids that follow it. @default call_1 */
  id?: (n: number) => string
  /** Kinds of content parts in messages of the user. */
  parts?: readonly string[]
  /** More fields of messages of the assistant that the provider takes. */
  usage?: object
  finishes?: readonly Finish[]
  errors?: readonly ErrorEvent[]
  counts?: Format['counts']
  /** More fields of the chunk with the finish reason. */
  lastChunk?: (tokens: object) => object
  /** Whether usage is in the chunk with the finish reason, and not in a chunk of its own. */
  isUsageWithFinish?: boolean
  /** Whether the schema of a response format needs no name. */
  isNameless?: boolean
  failure?: Format['failure']
  /** Whether a call comes whole, in one chunk. */
  wholeCalls?: boolean
  /** More rules. */
  problems?: (body: Json) => string[]
}

const openai: Format['source'] = { url: 'https://platform.openai.com/docs/api-reference/chat', read: '2026-11-29' }

/** Chat Completions, as OpenAI and most other providers stream them. */
export function openaiChat(dialect: ChatDialect): Format {
  const { name, source = openai, reasoning } = dialect
  return {
    name,
    source,
    contentType: 'text/event-stream',
    problems: (body) => [...chatProblems(body, dialect), ...(dialect.problems?.(body) ?? [])],
    events: (answer) => chatEvents(answer, dialect),
    tail: dialect.isUsageWithFinish === true ? 1 : 2,
    errors: dialect.errors ?? chatErrors,
    finishes: dialect.finishes ?? chatFinishes,
    failure: dialect.failure ?? chatFailure,
    reasoning: reasoning !== undefined,
    callId: dialect.id ?? ((n) => `call_${n}`),
    ...(dialect.callId === undefined && { oddId: 'functions.add:0' }),
    counts: dialect.counts ?? { cached: true, reasoning: true },
  }
}

const chatFinishes: readonly Finish[] = [
  { raw: 'stop', means: 'stop' },
  { raw: 'length', means: 'length' },
  { raw: 'content_filter', means: 'content-filter' },
]

export const chatErrors: readonly ErrorEvent[] = [
  {
    form: 'typed',
    event: data({ error: { message: 'boom', type: 'server_error', param: null, code: null } }),
    status: true,
  },
  { form: 'status as code', event: data({ error: { message: 'boom', code: 503 } }), status: true },
  { form: 'text', event: data({ error: 'boom' }), status: false },
]

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' }

function chatEvents({ reasoning, text, calls = [], finish }: Answer, dialect: ChatDialect): WireEvent[] {
  const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
    data({ ...head, choices: [{ index: 0, delta, finish_reason }], ...more })
  const events = [chunk({ role: 'assistant', content: '' })]
  if (reasoning !== undefined && dialect.reasoning !== undefined) events.push(chunk(dialect.reasoning(reasoning)))
  if (text !== undefined) for (const content of halves(text)) events.push(chunk({ content }))
  calls.forEach((call, index) => {
    for (const piece of callPieces(call, dialect)) events.push(chunk({ tool_calls: [{ index, ...piece }] }))
  })
  const tokens = chatUsage(dialect)
  const { isUsageWithFinish = false, lastChunk } = dialect
  const more = isUsageWithFinish ? { usage: tokens } : lastChunk?.(tokens)
  events.push(chunk({}, finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'), more))
  if (!isUsageWithFinish) events.push(data({ ...head, choices: [], usage: tokens }))
  return [...events, 'data: [DONE]\n\n']
}

function callPieces({ id, name, args }: Call, { wholeCalls = false }: ChatDialect): object[] {
  const start = { id, type: 'function', function: { name, arguments: wholeCalls ? args : '' } }
  if (wholeCalls || args === '') return [start]
  return [start, ...halves(args).map((piece) => ({ function: { arguments: piece } }))]
}

function chatUsage(dialect: ChatDialect): object {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
    ...dialect.usage,
  }
}

function chatFailure(status: number, message: string): object {
  return { error: { message, type: status < 500 ? 'invalid_request_error' : 'server_error', param: null, code: null } }
}
