import {
  call,
  chat,
  counted,
  delta,
  end,
  finish,
  finishV2,
  none,
  type Part,
  raw,
  start,
  text,
  zero,
} from './written.ts'

/** Reasons by which providers report a failure, and whether another try may succeed. */
export const failures: { reason: string; provider: string; unified?: string; isRetryable: boolean }[] = [
  { reason: 'error', provider: 'OpenRouter, LLM Gateway, Requesty, Mistral', isRetryable: true },
  { reason: 'abort', provider: 'vLLM', isRetryable: true },
  { reason: 'abort', provider: 'vLLM through Workers AI', unified: 'stop', isRetryable: true },
  { reason: 'network_error', provider: 'GLM', isRetryable: true },
  { reason: 'insufficient_system_resource', provider: 'DeepSeek', unified: 'error', isRetryable: true },
  { reason: 'MALFORMED_FUNCTION_CALL', provider: 'Gemini', unified: 'error', isRetryable: true },
  { reason: 'MALFORMED_RESPONSE', provider: 'Gemini', isRetryable: true },
  { reason: 'UNEXPECTED_TOOL_CALL', provider: 'Gemini', isRetryable: true },
  { reason: 'malformed_tool_use', provider: 'Bedrock', isRetryable: true },
  { reason: 'failed', provider: 'xAI', isRetryable: true },
  { reason: 'cancelled', provider: 'xAI', isRetryable: false },
  { reason: 'ERROR', provider: 'Cohere', unified: 'error', isRetryable: true },
  { reason: 'TIMEOUT', provider: 'Cohere', isRetryable: true },
  { reason: 'ERROR_TOXIC', provider: 'Cohere', isRetryable: false },
  { reason: 'ERROR_LIMIT', provider: 'Cohere', isRetryable: false },
  { reason: 'USER_CANCEL', provider: 'Cohere', isRetryable: false },
]

/** Whole answers that look like cut ones. */
export const wholes: { title: string; specification?: string; provider?: string; parts: Part[]; reason: string }[] = [
  {
    title: 'without a raw reason, of OpenAI Responses',
    provider: 'openai.responses',
    parts: [...text, finish('stop', undefined, counted)],
    reason: 'stop',
  },
  {
    title: 'with a call and without a raw reason and usage, of Open Responses',
    provider: 'acme.responses',
    parts: [...text, call('{"a":"b"}'), finish('tool-calls')],
    reason: 'tool-calls',
  },
  {
    title: 'with a call and without usage, of a chat server that sends none',
    provider: 'vercel.chat',
    parts: [...text, start, delta('{"a":"b"}'), end, call('{"a":"b"}'), finish('tool-calls', 'tool_calls', none)],
    reason: 'tool-calls',
  },
  {
    title: 'of Ollama, whose last event is done',
    provider: 'ollama.responses',
    parts: [raw({ done: false }), ...text, raw({ done: true, done_reason: 'stop' }), finish('stop', 'stop', counted)],
    reason: 'stop',
  },
  {
    title: 'of Databricks chat, whose usage comes behind the reason',
    specification: 'v3',
    provider: 'databricks',
    parts: [...text, raw(chat('stop')), raw({ choices: [] }), finish('other', undefined, counted)],
    reason: 'stop',
  },
  {
    title: 'with a call, of Databricks chat',
    specification: 'v3',
    provider: 'databricks',
    parts: [
      ...text,
      call('{"a":"b"}'),
      raw(chat('tool_calls')),
      raw({ choices: [] }),
      finish('other', undefined, counted),
    ],
    reason: 'tool-calls',
  },
  {
    title: 'with a call and usage of zeros, of Databricks Responses',
    specification: 'v3',
    provider: 'databricks',
    parts: [...text, call('{"a":"b"}'), call('{"a":"b"}'), finish('stop', undefined, zero)],
    reason: 'stop',
  },
  {
    title: 'with a reason that a V2 package does not know',
    specification: 'v2',
    provider: 'sambanova.chat',
    parts: [...text, raw(chat('model_length')), finishV2('unknown', 20)],
    reason: 'other',
  },
  {
    title: 'with a reason that its package does not know',
    provider: 'openrouter',
    parts: [...text, finish('other', 'unknown_x', counted)],
    reason: 'other',
  },
  {
    title: 'of a server whose events have an empty error',
    parts: [...text, raw(chat('stop', { error: '' })), finish('stop', 'stop', counted)],
    reason: 'stop',
  },
  {
    title: 'with an empty reason and usage',
    provider: 'acme.chat',
    parts: [...text, finish('other', '', counted)],
    reason: 'other',
  },
]

/** Whole calls without arguments, as the server said `tool_calls`. */
export const emptyCalls: { packages: string; specification: string; parts: Part[] }[] = [
  { packages: 'requesty 3.6.1', specification: 'v3', parts: [start, finish('tool-calls', 'tool_calls', counted)] },
  { packages: 'zhipu 0.2.2', specification: 'v2', parts: [start, raw(chat('tool_calls')), finishV2('tool-calls', 20)] },
  { packages: 'anthropic 4.0.105', specification: 'v4', parts: [start, finish('tool-calls', 'tool_use', counted)] },
  {
    packages: 'openai 4.0.118',
    specification: 'v4',
    parts: [start, end, call(''), finish('tool-calls', 'tool_calls', counted)],
  },
  {
    packages: 'openrouter 3.1.0',
    specification: 'v4',
    parts: [start, delta('{}'), end, call('{}'), finish('tool-calls', 'tool_calls', counted)],
  },
]
