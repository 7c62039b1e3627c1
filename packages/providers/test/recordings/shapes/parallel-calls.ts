import { acme, anthropic, chat, converse, google, interactions, responses, xai } from '../packages.ts'
import { ours, type Recording } from '../recording.ts'
import {
  callBlock,
  claude,
  completion,
  frame,
  functionCall,
  gemini,
  interaction,
  message,
  response,
  step,
  textBlock,
} from '../wire.ts'

const tools = () => ({
  weather: ours(({ city }: { city: string }) => ({ city, degrees: 7 })),
  note: ours(() => 'noted'),
})
const done = 'Both have 7 degrees.'
const two = [{ city: 'Oslo' }, { city: 'Bergen' }]
const ids = ['call_1', 'call_2']

/** Two calls in one answer, of one of our tools, then one that takes nothing and gives a text. */
export const recordings: Recording[] = [
  {
    name: 'openai responses',
    models: responses(),
    tools,
    answers: [
      response(
        ...two.flatMap((args, i) => functionCall(i, ids[i]!, 'weather', args)),
        ...functionCall(2, 'call_3', 'note', {}),
      ),
      response(...message(0, done)),
    ],
  },
  {
    name: 'openai chat',
    models: chat(),
    tools,
    answers: [chatCalls(), completion('stop', { content: done })],
  },
  { name: 'openai-compatible', models: acme(), tools, answers: [chatCalls(), completion('stop', { content: done })] },
  {
    name: 'xai responses',
    models: xai(),
    tools,
    answers: [
      response(
        ...two.flatMap((args, i) => functionCall(i, ids[i]!, 'weather', args)),
        ...functionCall(2, 'call_3', 'note', {}),
      ),
      response(...message(0, done)),
    ],
  },
  {
    name: 'anthropic',
    models: anthropic(),
    tools,
    answers: [
      claude('tool_use', [
        textBlock('I ask.'),
        ...two.map((args, i) => callBlock({ type: 'tool_use', id: ids[i], name: 'weather' }, args)),
        callBlock({ type: 'tool_use', id: 'call_3', name: 'note' }, {}),
      ]),
      claude('end_turn', [textBlock(done)]),
    ],
  },
  {
    name: 'google',
    models: google(),
    tools,
    answers: [
      [
        gemini([
          ...two.map((args, i) => ({
            functionCall: { id: ids[i], name: 'weather', args },
            ...(i === 0 && { thoughtSignature: 'sig' }),
          })),
          { functionCall: { id: 'call_3', name: 'note', args: {} } },
        ]),
        gemini([{ text: '' }], { finishReason: 'STOP' }),
      ],
      [gemini([{ text: done }], { finishReason: 'STOP' })],
    ],
  },
  {
    name: 'google interactions',
    models: interactions(),
    tools,
    answers: [
      interaction(
        'requires_action',
        ...two.flatMap((args, i) =>
          step(
            i,
            { type: 'function_call', id: ids[i], name: 'weather' },
            { type: 'arguments_delta', arguments: JSON.stringify(args) },
          ),
        ),
        ...step(2, { type: 'function_call', id: 'call_3', name: 'note' }, { type: 'arguments_delta', arguments: '{}' }),
      ),
      interaction('completed', ...step(0, { type: 'model_output' }, { type: 'text', text: done })),
    ],
  },
  {
    name: 'bedrock converse',
    models: converse(),
    tools,
    answers: [
      [
        frame('messageStart', { role: 'assistant' }),
        ...two.flatMap((args, i) => bedrockCall(i, ids[i]!, 'weather', args)),
        ...bedrockCall(2, 'call_3', 'note', {}),
        frame('messageStop', { stopReason: 'tool_use' }),
        frame('metadata', { usage: { inputTokens: 20, outputTokens: 7, totalTokens: 27 }, metrics: { latencyMs: 1 } }),
      ],
      [
        frame('messageStart', { role: 'assistant' }),
        frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: done } }),
        frame('contentBlockStop', { contentBlockIndex: 0 }),
        frame('messageStop', { stopReason: 'end_turn' }),
        frame('metadata', { usage: { inputTokens: 20, outputTokens: 7, totalTokens: 27 }, metrics: { latencyMs: 1 } }),
      ],
    ],
  },
]

function chatCalls(): string[] {
  const call = (index: number, id: string, name: string, args: object) => {
    const json = JSON.stringify(args)
    return [
      { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
      ...[json.slice(0, 1), json.slice(1)].map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
    ]
  }
  return completion(
    'tool_calls',
    ...two.flatMap((args, i) => call(i, ids[i]!, 'weather', args)),
    ...call(2, 'call_3', 'note', {}),
  )
}

function bedrockCall(contentBlockIndex: number, toolUseId: string, name: string, args: object): Uint8Array[] {
  return [
    frame('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name } } }),
    frame('contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input: JSON.stringify(args) } } }),
    frame('contentBlockStop', { contentBlockIndex }),
  ]
}
