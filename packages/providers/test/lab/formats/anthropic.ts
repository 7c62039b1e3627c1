import { type Answer, type Format, usage, type WireEvent } from '../format.ts'
import { anthropicProblems } from './anthropic-rules.ts'
import { halves } from './halves.ts'
import { typed } from './sse.ts'

const messages: Format = {
  name: 'anthropic',
  source: { url: 'https://platform.claude.com/docs/en/build-with-claude/streaming', read: '2026-11-29' },
  family: 'anthropic',
  contentType: 'text/event-stream',
  problems: (body) => anthropicProblems(body),
  events,
  tail: 1,
  errors: [
    {
      form: 'overloaded',
      event: typed('error', { error: { type: 'overloaded_error', message: 'boom' } }),
      status: true,
    },
    { form: 'api', event: typed('error', { error: { type: 'api_error', message: 'boom' } }), status: true },
  ],
  finishes: [
    { raw: 'end_turn', means: 'stop' },
    { raw: 'stop_sequence', means: 'stop' },
    { raw: 'max_tokens', means: 'length' },
    { raw: 'model_context_window_exceeded', means: 'length' },
    { raw: 'refusal', means: 'content-filter' },
  ],
  failure: (status, message) => ({ type: 'error', error: { type: errorType(status), message } }),
  reasoning: true,
  signature: /lab-signature/,
  callId: (n) => `toolu_${n}`,
  counts: { cached: true, reasoning: false },
}

/** Anthropic's Messages, and MiniMax's in the same form, which does not state Anthropic's rules for texts and ids. */
export const anthropicFormats: readonly Format[] = [
  messages,
  {
    ...messages,
    name: 'minimax',
    source: { url: 'https://platform.minimax.io/docs/api-reference/text-anthropic-api', read: '2026-11-29' },
    problems: (body) => anthropicProblems(body, false),
  },
]

function errorType(status: number): string {
  if (status === 429) return 'rate_limit_error'
  return status < 500 ? 'invalid_request_error' : 'api_error'
}

function events({ reasoning, text, calls = [], finish }: Answer): WireEvent[] {
  const blocks: { start: object; deltas: object[] }[] = []
  if (reasoning !== undefined)
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...halves(reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: 'lab-signature' },
      ],
    })
  if (text !== undefined)
    blocks.push({
      start: { type: 'text', text: '' },
      deltas: halves(text).map((piece) => ({ type: 'text_delta', text: piece })),
    })
  for (const { id, name, args } of calls)
    blocks.push({
      start: { type: 'tool_use', id, name, input: {} },
      deltas: (args === '' ? [''] : halves(args)).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    })
  const tokens = {
    input_tokens: usage.input - usage.cached,
    cache_read_input_tokens: usage.cached,
    cache_creation_input_tokens: 0,
    output_tokens: 1,
  }
  const message = {
    id: 'msg_lab',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: tokens,
  }
  return [
    typed('message_start', { message }),
    ...blocks.flatMap(({ start, deltas }, index) => [
      typed('content_block_start', { index, content_block: start }),
      ...deltas.map((delta) => typed('content_block_delta', { index, delta })),
      typed('content_block_stop', { index }),
    ]),
    typed('message_delta', {
      delta: { stop_reason: finish ?? (calls.length > 0 ? 'tool_use' : 'end_turn'), stop_sequence: null },
      usage: { output_tokens: usage.output },
    }),
    typed('message_stop'),
  ]
}
