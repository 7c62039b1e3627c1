import { type Answer, type ErrorEvent, type Format, usage, type WireEvent } from '../format.ts'
import { responsesProblems } from './openai-responses-rules.ts'
import { functionCall, message, reasoningItem, reasoningText } from './response-items.ts'
import { data, typed } from './sse.ts'

const response = { id: 'resp_lab', object: 'response', created_at: 1, model: 'm', output: [], status: 'in_progress' }
const failed = { ...response, status: 'failed', error: { code: 'server_error', message: 'boom' } }

/** How a provider of Responses differs from OpenAI. */
export interface ResponsesDialect {
  name: string
  source: Format['source']
  family?: string
  /** Whether ids of items begin with their kind. @default true */
  prefixes?: boolean
  /** How an item of reasoning streams its text. @default 'summary' */
  reasoning?: 'summary' | 'text'
  errors?: readonly ErrorEvent[]
  failure?: Format['failure']
}

const nested = { type: 'server_error', code: 'server_error', message: 'boom', param: null }
export const errorForms = {
  flat: {
    form: 'flat',
    event: typed('error', { code: 'server_error', message: 'boom', param: null, sequence_number: 9 }),
    status: true,
  },
  nested: { form: 'nested', event: data({ type: 'error', sequence_number: 9, error: nested }), status: true },
  failed: {
    form: 'response.failed',
    event: typed('response.failed', { sequence_number: 9, response: failed }),
    status: true,
  },
} satisfies Record<string, ErrorEvent>

/** Responses, as OpenAI, xAI, Hugging Face, Databricks and others offer them. */
export function openaiResponses(dialect: ResponsesDialect): Format {
  const {
    name,
    source,
    family,
    prefixes = true,
    reasoning = 'summary',
    errors = Object.values(errorForms),
    failure = responsesFailure,
  } = dialect
  return {
    name,
    source,
    ...(family !== undefined && { family }),
    contentType: 'text/event-stream',
    problems: (body) => responsesProblems(body, prefixes),
    events: (answer) => events(answer, dialect),
    tail: 0,
    errors,
    finishes: [
      { raw: 'completed', means: 'stop' },
      { raw: 'max_output_tokens', means: 'length' },
      { raw: 'content_filter', means: 'content-filter' },
    ],
    failure,
    reasoning: true,
    ...(reasoning === 'summary' && { signature: /lab-encrypted|rs_lab0/ }),
    callId: (n) => `call_${n}`,
    counts: { cached: true, reasoning: true },
  }
}

function responsesFailure(status: number, message: string): object {
  return { error: { message, type: status < 500 ? 'invalid_request_error' : 'server_error', param: null, code: null } }
}

function events({ reasoning, text, calls = [], finish = 'completed' }: Answer, dialect: ResponsesDialect): WireEvent[] {
  const items: string[][] = []
  if (reasoning !== undefined)
    items.push((dialect.reasoning === 'text' ? reasoningText : reasoningItem)(reasoning, items.length))
  if (text !== undefined) items.push(message(text, items.length))
  for (const call of calls) items.push(functionCall(call, items.length))
  const tokens = {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  }
  const end =
    finish === 'completed'
      ? typed('response.completed', { response: { ...response, status: finish, usage: tokens } })
      : typed('response.incomplete', {
          response: { ...response, status: 'incomplete', incomplete_details: { reason: finish }, usage: tokens },
        })
  return [typed('response.created', { response }), ...items.flat(), end]
}
