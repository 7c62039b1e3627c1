import { crc32 } from 'node:zlib'

/** One server-sent event. */
export function data(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** An event that is named by its type, as OpenAI's Responses and Anthropic's Messages have it. */
export function typed(type: string, rest: object = {}): string {
  return `event: ${type}\n${data({ type, ...rest })}`
}

/** OpenAI Responses: the answer around its items. */
export function response(...events: string[]): string[] {
  const input_tokens_details = { cached_tokens: 8 }
  const output_tokens_details = { reasoning_tokens: 3 }
  const usage = { input_tokens: 20, output_tokens: 7, total_tokens: 27, input_tokens_details, output_tokens_details }
  return [
    typed('response.created', {
      response: { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [], status: 'in_progress' },
    }),
    ...events,
    typed('response.completed', {
      response: { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [], status: 'completed', usage },
    }),
  ]
}

/** An item of OpenAI Responses as it is added and done, with events in between. */
export function item(output_index: number, added: object, done: object, ...between: string[]): string[] {
  return [
    typed('response.output_item.added', { output_index, item: added }),
    ...between,
    typed('response.output_item.done', { output_index, item: { ...added, ...done } }),
  ]
}

/** A message of OpenAI Responses. */
export function message(output_index: number, text: string, ...more: string[]): string[] {
  const id = `msg_${output_index}`
  const added = { type: 'message', id, role: 'assistant', status: 'in_progress', content: [] }
  const place = { item_id: id, output_index, content_index: 0 }
  const annotations: object[] = []
  const content = [{ type: 'output_text', text, annotations }]
  const delta = typed('response.output_text.delta', { ...place, delta: text })
  return item(output_index, added, { status: 'completed', content }, delta, ...more)
}

/** A function call of OpenAI Responses. */
export function functionCall(
  output_index: number,
  call_id: string,
  name: string,
  args: object,
  more: object = {},
): string[] {
  const text = JSON.stringify(args)
  const id = `fc_${call_id}`
  const call = { type: 'function_call', id, call_id, name, ...more }
  const deltas = [text.slice(0, 3), text.slice(3)].map((delta) =>
    typed('response.function_call_arguments.delta', { item_id: id, output_index, delta }),
  )
  return item(
    output_index,
    { ...call, arguments: '', status: 'in_progress' },
    { arguments: text, status: 'completed' },
    ...deltas,
  )
}

/** Anthropic Messages: the answer around its blocks. */
export function claude(
  stop_reason: string,
  blocks: string[][],
  { start = {}, delta = {}, end = {} }: { start?: object; delta?: object; end?: object } = {},
): string[] {
  const usage = { input_tokens: 12, cache_read_input_tokens: 0, output_tokens: 1 }
  const message = {
    id: 'msg_1',
    type: 'message',
    model: 'claude',
    role: 'assistant',
    content: [],
    stop_reason: null,
    usage,
  }
  return [
    typed('message_start', { message: { ...message, ...start } }),
    ...blocks.flatMap((block, index) => block.map((event) => event.replaceAll('"index":-1', `"index":${index}`))),
    typed('message_delta', {
      delta: { stop_reason, stop_sequence: null, ...delta },
      usage: { output_tokens: 7 },
      ...end,
    }),
    typed('message_stop'),
  ]
}

/** A block of Anthropic Messages; `claude()` gives it its index. */
export function block(content_block: object, ...deltas: object[]): string[] {
  return [
    typed('content_block_start', { index: -1, content_block }),
    ...deltas.map((delta) => typed('content_block_delta', { index: -1, delta })),
    typed('content_block_stop', { index: -1 }),
  ]
}

export function textBlock(text: string, ...deltas: object[]): string[] {
  return block({ type: 'text', text: '' }, { type: 'text_delta', text }, ...deltas)
}

/** A block whose input comes as JSON: a call of ours or of the server's. */
export function callBlock(content_block: object, input: object): string[] {
  const json = JSON.stringify(input)
  const deltas = ['', json.slice(0, 4), json.slice(4)].map((partial_json) => ({
    type: 'input_json_delta',
    partial_json,
  }))
  return block({ input: {}, ...content_block }, ...deltas)
}

/** Gemini: one chunk. */
export function gemini(parts: object[], end: object = {}): string {
  const usageMetadata = {
    promptTokenCount: 20,
    cachedContentTokenCount: 8,
    candidatesTokenCount: 7,
    totalTokenCount: 27,
  }
  return data({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...end }],
    usageMetadata,
    responseId: 'g-1',
    modelVersion: 'gemini',
  })
}

/** Chat completions: the answer around its deltas. */
export function completion(finish_reason: string, ...deltas: object[]): string[] {
  const chunk = (delta: object, finish: string | null) =>
    data({
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
  const usage = {
    prompt_tokens: 20,
    completion_tokens: 7,
    total_tokens: 27,
    prompt_tokens_details: { cached_tokens: 8 },
  }
  return [
    ...[{ role: 'assistant', content: '' }, ...deltas].map((delta) => chunk(delta, null)),
    chunk({}, finish_reason),
    data({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage }),
    'data: [DONE]\n\n',
  ]
}

/** Google Interactions: the answer around its steps. */
export function interaction(status: string, ...steps: string[]): string[] {
  const usage = { total_input_tokens: 20, total_output_tokens: 7, total_tokens: 27 }
  const event = (event_type: string, rest: object) => data({ event_type, ...rest })
  return [
    event('interaction.created', { interaction: { id: 'i-1', status: 'in_progress', model: 'gemini' } }),
    ...steps,
    event('interaction.completed', { interaction: { id: 'i-1', status, model: 'gemini', usage } }),
  ]
}

export function step(index: number, started: object, ...deltas: object[]): string[] {
  const event = (event_type: string, rest: object) => data({ event_type, index, ...rest })
  return [
    event('step.start', { step: started }),
    ...deltas.map((delta) => event('step.delta', { delta })),
    event('step.stop', {}),
  ]
}

/** Bedrock's Converse: one event in the binary frame of AWS. */
export function frame(name: string, payload: object, kind: 'event' | 'exception' = 'event'): Uint8Array {
  const headers = Buffer.concat([
    header(':message-type', kind),
    header(`:${kind}-type`, name),
    header(':content-type', 'application/json'),
  ])
  const body = Buffer.from(JSON.stringify(payload))
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(16 + headers.length + body.length, 0)
  prelude.writeUInt32BE(headers.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const whole = Buffer.concat([prelude, headers, body])
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(whole))
  return Buffer.concat([whole, check])
}

/** A header of the type 7, a text. */
function header(name: string, value: string): Buffer {
  const head = Buffer.alloc(name.length + 4)
  head.writeUInt8(name.length, 0)
  head.write(name, 1)
  head.writeUInt8(7, name.length + 1)
  head.writeUInt16BE(value.length, name.length + 2)
  return Buffer.concat([head, Buffer.from(value)])
}
