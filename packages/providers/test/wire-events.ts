// One answer in four wire formats: reasoning (but for chat), the text `Grüße 🧅`, the tool call `add({"a":1})`.

export const chatEvents = [
  chat({ role: 'assistant', content: '' }),
  chat({ content: 'Grüße ' }),
  chat({ content: '🧅' }),
  chat({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'add', arguments: '' } }] }),
  chat({ tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] }),
  chat({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
  chat({}, 'tool_calls'),
  data({
    id: 'c1',
    choices: [],
    usage: { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27, prompt_tokens_details: { cached_tokens: 8 } },
  }),
  'data: [DONE]\n\n',
]

const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'add' }
const usage = {
  input_tokens: 20,
  output_tokens: 7,
  total_tokens: 27,
  input_tokens_details: { cached_tokens: 8 },
  output_tokens_details: { reasoning_tokens: 3 },
}

export const responsesEvents = [
  typed('response.created', { response: { id: 'resp_1', created_at: 1, model: 'gpt-5' } }),
  typed('response.output_item.added', { output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } }),
  typed('response.reasoning_summary_part.added', { item_id: 'rs_1', summary_index: 0 }),
  typed('response.reasoning_summary_text.delta', { item_id: 'rs_1', summary_index: 0, delta: 'Thinking' }),
  typed('response.reasoning_summary_part.done', { item_id: 'rs_1', summary_index: 0 }),
  typed('response.output_item.done', {
    output_index: 0,
    item: { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'signature' },
  }),
  typed('response.output_item.added', { output_index: 1, item: { type: 'message', id: 'msg_1' } }),
  typed('response.output_text.delta', { item_id: 'msg_1', delta: 'Grüße ' }),
  typed('response.output_text.delta', { item_id: 'msg_1', delta: '🧅' }),
  typed('response.output_item.done', { output_index: 1, item: { type: 'message', id: 'msg_1' } }),
  typed('response.output_item.added', { output_index: 2, item: { ...call, arguments: '' } }),
  typed('response.function_call_arguments.delta', { item_id: 'fc_1', output_index: 2, delta: '{"a"' }),
  typed('response.function_call_arguments.delta', { item_id: 'fc_1', output_index: 2, delta: ':1}' }),
  typed('response.output_item.done', { output_index: 2, item: { ...call, arguments: '{"a":1}', status: 'completed' } }),
  typed('response.completed', { response: { id: 'resp_1', usage } }),
]

export const anthropicEvents = [
  typed('message_start', {
    message: {
      id: 'm1',
      model: 'claude',
      role: 'assistant',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 12, cache_read_input_tokens: 8, output_tokens: 1 },
    },
  }),
  block(0, { type: 'thinking', thinking: '', signature: '' }),
  typed('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'Thinking' } }),
  typed('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'signature' } }),
  typed('content_block_stop', { index: 0 }),
  typed('ping', {}),
  block(1, { type: 'text', text: '' }),
  typed('content_block_delta', { index: 1, delta: { type: 'text_delta', text: 'Grüße ' } }),
  typed('content_block_delta', { index: 1, delta: { type: 'text_delta', text: '🧅' } }),
  typed('content_block_stop', { index: 1 }),
  block(2, { type: 'tool_use', id: 'call_1', name: 'add', input: {} }),
  typed('content_block_delta', { index: 2, delta: { type: 'input_json_delta', partial_json: '{"a"' } }),
  typed('content_block_delta', { index: 2, delta: { type: 'input_json_delta', partial_json: ':1}' } }),
  typed('content_block_stop', { index: 2 }),
  typed('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 7 } }),
  typed('message_stop', {}),
]

export const googleEvents = [
  gemini([{ text: 'Thinking', thought: true }]),
  gemini([{ text: 'Grüße ' }]),
  gemini([{ text: '🧅' }]),
  gemini([{ functionCall: { id: 'call_1', name: 'add', args: { a: 1 } }, thoughtSignature: 'signature' }]),
  gemini([{ text: '' }], { finishReason: 'STOP' }),
]

function chat(delta: object, finish_reason: string | null = null): string {
  return data({ id: 'c1', created: 1, model: 'gpt-4o', choices: [{ index: 0, delta, finish_reason }] })
}

function typed(type: string, rest: object): string {
  return `event: ${type}\n${data({ type, ...rest })}`
}

function block(index: number, content_block: object): string {
  return typed('content_block_start', { index, content_block })
}

function gemini(parts: object[], end: object = {}): string {
  return data({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...end }],
    usageMetadata: { promptTokenCount: 20, cachedContentTokenCount: 8, candidatesTokenCount: 7, totalTokenCount: 27 },
  })
}

function data(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}
