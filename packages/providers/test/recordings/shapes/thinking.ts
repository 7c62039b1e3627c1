import { acme, anthropic, chat, converse, google, interactions, responses, xai } from '../packages.ts'
import { ours, type Recording } from '../recording.ts'
import {
  block,
  callBlock,
  claude,
  completion,
  frame,
  functionCall,
  gemini,
  interaction,
  item,
  message,
  response,
  step,
  textBlock,
} from '../wire.ts'

const tools = () => ({ weather: ours(() => ({ degrees: 7 })) })
const part = (type: string, index: number, more: object = {}) => ({
  type,
  item_id: 'rs_1',
  output_index: 0,
  summary_index: index,
  ...more,
})
const event = (value: object & { type: string }) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`

/** An OpenAI answer that thinks in two parts, and calls a tool. */
const thinkingResponse = response(
  ...item(
    0,
    { type: 'reasoning', id: 'rs_1', summary: [], status: 'in_progress' },
    {
      summary: [
        { type: 'summary_text', text: 'First.' },
        { type: 'summary_text', text: 'Then.' },
      ],
      encrypted_content: 'enc',
      status: 'completed',
    },
    event(part('response.reasoning_summary_part.added', 0, { part: { type: 'summary_text', text: '' } })),
    event(part('response.reasoning_summary_text.delta', 0, { delta: 'First.' })),
    event(part('response.reasoning_summary_part.done', 0, { part: { type: 'summary_text', text: 'First.' } })),
    event(part('response.reasoning_summary_part.added', 1, { part: { type: 'summary_text', text: '' } })),
    event(part('response.reasoning_summary_text.delta', 1, { delta: 'Then.' })),
    event(part('response.reasoning_summary_part.done', 1, { part: { type: 'summary_text', text: 'Then.' } })),
  ),
  ...functionCall(1, 'call_1', 'weather', { city: 'Oslo' }),
)

/** Thoughts, and the signatures without which their provider does not take them back. */
export const recordings: Recording[] = [
  {
    name: 'openai stored',
    models: responses(),
    tools,
    answers: [thinkingResponse, response(...message(0, 'It has 7 degrees.'))],
  },
  {
    name: 'openai encrypted, not stored',
    models: responses(),
    tools,
    settings: { providerOptions: { openai: { store: false, include: ['reasoning.encrypted_content'] } } },
    answers: [thinkingResponse, response(...message(0, 'It has 7 degrees.'))],
  },
  {
    name: 'xai encrypted',
    models: { v3: xai().v3!, v4: xai().v4! },
    tools,
    answers: [thinkingResponse, response(...message(0, 'It has 7 degrees.'))],
  },
  {
    name: 'anthropic, with thoughts that are hidden, between calls too',
    models: anthropic(),
    tools,
    answers: [
      claude('tool_use', [
        block(
          { type: 'thinking', thinking: '', signature: '' },
          { type: 'thinking_delta', thinking: 'Hm.' },
          { type: 'signature_delta', signature: 'sig_1' },
        ),
        block({ type: 'redacted_thinking', data: 'hidden' }),
        textBlock('I ask.'),
        callBlock({ type: 'tool_use', id: 'toolu_1', name: 'weather' }, { city: 'Oslo' }),
      ]),
      claude('end_turn', [
        block(
          { type: 'thinking', thinking: '', signature: '' },
          { type: 'thinking_delta', thinking: 'Aha.' },
          { type: 'signature_delta', signature: 'sig_2' },
        ),
        textBlock('It has 7 degrees.'),
      ]),
    ],
  },
  {
    name: 'google',
    models: google(),
    tools,
    answers: [
      [
        gemini([{ text: 'Hm.', thought: true }]),
        gemini([{ text: 'I ask.', thoughtSignature: 'sig_0' }]),
        gemini([
          { functionCall: { id: 'call_1', name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'sig_1' },
        ]),
        gemini([{ text: '' }], { finishReason: 'STOP' }),
      ],
      [
        gemini([{ text: 'It has 7 degrees.' }]),
        gemini([{ text: '', thoughtSignature: 'sig_2' }], { finishReason: 'STOP' }),
      ],
    ],
  },
  {
    name: 'google interactions',
    models: interactions(),
    tools,
    answers: [
      interaction(
        'requires_action',
        ...step(
          0,
          { type: 'thought' },
          { type: 'thought_summary', content: { type: 'text', text: 'Hm.' } },
          { type: 'thought_signature', signature: 'sig' },
        ),
        ...step(
          1,
          { type: 'function_call', id: 'call_1', name: 'weather', signature: 'sig_1' },
          { type: 'arguments_delta', arguments: '{"city":"Oslo"}' },
        ),
      ),
      interaction('completed', ...step(0, { type: 'model_output' }, { type: 'text', text: 'It has 7 degrees.' })),
    ],
  },
  {
    name: 'bedrock converse',
    models: converse(),
    tools,
    answers: [
      [
        frame('messageStart', { role: 'assistant' }),
        frame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Hm.' } } }),
        frame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'sig' } } }),
        frame('contentBlockStop', { contentBlockIndex: 0 }),
        frame('contentBlockStart', {
          contentBlockIndex: 1,
          start: { toolUse: { toolUseId: 'call_1', name: 'weather' } },
        }),
        frame('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '{"city":"Oslo"}' } } }),
        frame('contentBlockStop', { contentBlockIndex: 1 }),
        frame('messageStop', { stopReason: 'tool_use' }),
        frame('metadata', { usage: { inputTokens: 20, outputTokens: 7, totalTokens: 27 }, metrics: { latencyMs: 1 } }),
      ],
      [
        frame('messageStart', { role: 'assistant' }),
        frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'It has 7 degrees.' } }),
        frame('contentBlockStop', { contentBlockIndex: 0 }),
        frame('messageStop', { stopReason: 'end_turn' }),
        frame('metadata', { usage: { inputTokens: 20, outputTokens: 7, totalTokens: 27 }, metrics: { latencyMs: 1 } }),
      ],
    ],
  },
  {
    name: 'openai-compatible',
    models: acme(),
    answers: [
      completion(
        'stop',
        { reasoning_content: 'Hm. ' },
        { reasoning_content: 'Aha.' },
        { content: 'It has 7 ' },
        { content: 'degrees.' },
      ),
    ],
  },
  {
    name: 'openai chat',
    models: chat('o4-mini'),
    answers: [completion('stop', { content: 'It has ' }, { content: '7 degrees.' })],
  },
]
