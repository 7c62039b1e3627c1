import { usage } from '../format.ts'
import { type ChatDialect, chatErrors, openaiChat } from './openai-chat.ts'
import { data } from './sse.ts'

const read = '2026-11-29'
const contents = (text: string) => ({ reasoning_content: text })
const [typedError, , textError] = chatErrors

/** Providers of the chat format, with what they add to it. */
const dialects: readonly ChatDialect[] = [
  // Ids of calls have at most 40 characters.
  { name: 'openai-chat', callId: /^.{1,40}$/ },
  // Servers that send reasoning beside the content.
  {
    name: 'chat-reasoning-content',
    reasoning: contents,
    source: { url: 'https://docs.vllm.ai/en/latest/features/reasoning_outputs.html', read },
  },
  {
    name: 'chat-reasoning',
    reasoning: (reasoning) => ({ reasoning }),
    source: { url: 'https://docs.vllm.ai/en/latest/features/reasoning_outputs.html', read },
  },
  {
    name: 'mistral',
    source: { url: 'https://docs.mistral.ai/api/endpoint/chat', read },
    reasoning: (text) => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }),
    callId: /^[a-zA-Z0-9]{9}$/,
    id: (n) => `mistral${String(n).padStart(2, '0')}`,
    parts: ['text', 'image_url', 'document_url', 'input_audio', 'file'],
    counts: { cached: true, reasoning: false },
    isUsageWithFinish: true,
    failure: (_status, message) => ({
      object: 'error',
      message,
      type: 'invalid_request_error',
      param: null,
      code: '3230',
    }),
    errors: [
      {
        form: 'object',
        event: data({ object: 'error', message: 'boom', type: 'internal_server_error', param: null, code: '500' }),
        status: true,
      },
      ...chatErrors,
    ],
    finishes: [
      { raw: 'stop', means: 'stop' },
      { raw: 'length', means: 'length' },
      { raw: 'model_length', means: 'length' },
      { raw: 'error', means: 'failed' },
    ],
  },
  {
    name: 'deepseek',
    source: { url: 'https://api-docs.deepseek.com/api/create-chat-completion', read },
    reasoning: contents,
    parts: ['text'],
    usage: { prompt_cache_hit_tokens: usage.cached, prompt_cache_miss_tokens: usage.input - usage.cached },
    finishes: [
      { raw: 'stop', means: 'stop' },
      { raw: 'length', means: 'length' },
      { raw: 'content_filter', means: 'content-filter' },
      { raw: 'insufficient_system_resource', means: 'failed' },
    ],
  },
  {
    name: 'groq',
    source: { url: 'https://console.groq.com/docs/api-reference', read },
    reasoning: (reasoning) => ({ reasoning }),
    parts: ['text', 'image_url'],
    lastChunk: (tokens) => ({ x_groq: { id: 'req_lab', usage: tokens } }),
    finishes: [
      { raw: 'stop', means: 'stop' },
      { raw: 'length', means: 'length' },
    ],
  },
  {
    name: 'openrouter',
    source: { url: 'https://openrouter.ai/docs/api/reference/streaming', read },
    reasoning: (text) => ({
      reasoning: text,
      reasoning_details: [{ type: 'reasoning.text', text, format: 'unknown', index: 0 }],
    }),
    usage: { cost: 0.001 },
    errors: [
      {
        form: 'with a choice',
        event: data({
          id: 'lab',
          object: 'chat.completion.chunk',
          created: 1,
          model: 'm',
          provider: 'lab',
          error: { code: 502, message: 'boom' },
          choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
        }),
        status: true,
      },
      ...chatErrors.slice(1, 2),
    ],
    finishes: [
      { raw: 'stop', means: 'stop' },
      { raw: 'length', means: 'length' },
      { raw: 'content_filter', means: 'content-filter' },
      { raw: 'error', means: 'failed' },
    ],
  },
  {
    name: 'gateway',
    source: { url: 'https://openrouter.ai/docs/api/reference/streaming', read },
    reasoning: contents,
    finishes: [
      { raw: 'stop', means: 'stop' },
      { raw: 'length', means: 'length' },
      { raw: 'content_filter', means: 'content-filter' },
      { raw: 'error', means: 'failed' },
    ],
  },
  {
    name: 'llmgateway',
    source: { url: 'https://docs.llmgateway.io/features/reasoning', read },
    reasoning: (reasoning) => ({ reasoning }),
    usage: { cost_usd_total: 0.001 },
    finishes: [
      { raw: 'stop', means: 'stop' },
      { raw: 'length', means: 'length' },
      { raw: 'content_filter', means: 'content-filter' },
      { raw: 'error', means: 'failed' },
    ],
  },
  {
    name: 'vllm',
    source: { url: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html', read },
    reasoning: contents,
    errors: [
      {
        form: 'object',
        event: data({ object: 'error', message: 'boom', type: 'InternalServerError', code: 500 }),
        status: true,
      },
      typedError!,
      textError!,
    ],
    finishes: [
      { raw: 'stop', means: 'stop' },
      { raw: 'length', means: 'length' },
      { raw: 'abort', means: 'failed' },
    ],
  },
  {
    name: 'moonshot',
    source: { url: 'https://platform.moonshot.ai/docs/api/chat', read },
    reasoning: contents,
    id: (n) => `functions.add:${n}`,
    usage: { cached_tokens: usage.cached },
  },
  {
    name: 'workers-ai',
    isNameless: true,
    source: { url: 'https://developers.cloudflare.com/workers-ai/features/function-calling/', read },
    reasoning: contents,
    counts: { cached: true, reasoning: false },
  },
  {
    name: 'xai-chat',
    source: { url: 'https://docs.x.ai/docs/api-reference', read },
    reasoning: contents,
    // It sends a call whole, and counts reasoning apart from the answer.
    wholeCalls: true,
    usage: { completion_tokens: usage.output - usage.reasoning },
  },
  {
    name: 'cerebras',
    source: { url: 'https://inference-docs.cerebras.ai/api-reference/chat-completions', read },
    reasoning: (reasoning) => ({ reasoning }),
    failure: (_status, message) => ({ message, type: 'server_error', param: '', code: 'lab' }),
  },
  {
    name: 'databricks',
    source: { url: 'https://docs.databricks.com/aws/en/machine-learning/foundation-model-apis/api-reference', read },
    isUsageWithFinish: true,
    failure: (_status, message) => ({ error_code: 'LAB', message }),
  },
  {
    name: 'perplexity',
    source: { url: 'https://docs.perplexity.ai/api-reference/chat-completions-post', read },
    parts: ['text', 'image_url', 'file_url', 'pdf_url', 'video_url'],
    counts: { cached: false, reasoning: true },
    isNameless: true,
    failure: (status, message) => ({ error: { message, type: 'lab', code: status } }),
    finishes: [
      { raw: 'stop', means: 'stop' },
      { raw: 'length', means: 'length' },
    ],
    usage: {
      completion_tokens: usage.output - usage.reasoning,
      reasoning_tokens: usage.reasoning,
      citation_tokens: 0,
      num_search_queries: 1,
    },
  },
  {
    name: 'zhipu',
    source: { url: 'https://docs.z.ai/api-reference/llm/chat-completion', read },
    reasoning: contents,
    wholeCalls: true,
    finishes: [
      { raw: 'stop', means: 'stop' },
      { raw: 'length', means: 'length' },
      { raw: 'sensitive', means: 'content-filter' },
    ],
  },
]

export const chatFormats = dialects.map(openaiChat)
