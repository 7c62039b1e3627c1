import { call, chat, delta, end, finish, finishV2, type Part, raw, sdkError, start, text, zero } from './written.ts'

/** Where an answer ends too early: behind its text, in its call, or behind the call. */
export const places = ['text', 'name', 'arguments', 'call'] as const
export type Place = (typeof places)[number]

/** How packages report a cut. Recorded with a server on 127.0.0.1 that ended its answers in good order, on 29 November 2026. */
export interface CutForm {
  /** With their versions. */
  packages: string
  specification: string
  provider: string
  parts(place: Place): Part[]
  /** The stream fails with it instead of ending. */
  fails?(place: Place): Error | undefined
  /** At the other places the package has a form of the list above it, or cannot be told from a whole answer. */
  only?: readonly Place[]
}

const json = { text: '', name: '', arguments: '{"a":"b', call: '{"a":"b"}' }

/** The call as it was streamed, and the whole call that most packages send at the end, whatever they have of it. */
function streamed(place: Place, isWhole = true): Part[] {
  if (place === 'text') return text
  const deltas = json[place] === '' ? [] : [delta(json[place])]
  const whole = isWhole || place === 'call' ? [end, call(json[place])] : []
  return [...text, start, ...deltas, ...whole]
}

const noReason = sdkError('AI_InvalidResponseDataError', 'Response stream ended without a finish reason.', { data: {} })

export const cuts: CutForm[] = [
  {
    packages: 'openai chat 4.0.118, mistral 4.0.87, groq 4.0.84',
    specification: 'v4',
    provider: 'openai.chat',
    parts: (place) => [...streamed(place), finish('interrupted')],
  },
  {
    packages: 'openai responses 4.0.118, anthropic 4.0.105, google 4.0.121',
    specification: 'v4',
    provider: 'openai.responses',
    parts: (place) => [...streamed(place, false), finish('interrupted')],
  },
  {
    packages: 'deepseek 3.0.56, moonshotai 3.0.60, alibaba 2.0.58, openai chat 3.0.141, friendli 1.1.31',
    specification: 'v3',
    provider: 'deepseek.chat',
    parts: (place) => [...streamed(place), finish('other')],
  },
  {
    packages: 'cohere 4.0.52, amazon-bedrock 5.0.101, llmgateway 4.0.0, open-responses 2.0.36',
    specification: 'v4',
    provider: 'cohere.chat',
    parts: (place) => [...streamed(place, false), finish('other')],
  },
  {
    packages: 'xai 5.0.12, databricks chat 0.5.1',
    specification: 'v3',
    provider: 'databricks',
    parts: (place) => [...streamed(place), raw(chat(null)), finish('other', undefined, zero)],
  },
  {
    packages: 'anthropic 3.0.140, minimax 0.0.2',
    specification: 'v3',
    provider: 'anthropic.messages',
    parts: (place) => streamed(place, false),
  },
  {
    packages: 'openai-compatible 3.0.92, cerebras, togetherai, fireworks, baseten, deepinfra, spice, vercel, aihubmix',
    specification: 'v4',
    provider: 'acme.chat',
    parts: (place) => [...streamed(place), { type: 'error', error: noReason }, finish('error')],
  },
  {
    packages: 'sambanova 1.2.2, zhipu 0.2.2',
    specification: 'v2',
    provider: 'sambanova.chat',
    parts: (place) => [...streamed(place), raw(chat(null)), finishV2('unknown')],
  },
  {
    packages: 'requesty 3.6.1',
    specification: 'v3',
    provider: 'requesty.chat',
    parts: (place) => [...streamed(place, false), finish('other', '', zero)],
  },
  {
    packages: 'qwen 2.1.3',
    specification: 'v3',
    provider: 'qwen.chat',
    parts: (place) => [
      ...(place === 'name' ? [...text, start, end, call('{}')] : streamed(place, false)),
      finish('other'),
    ],
  },
  {
    packages: 'workers-ai 4.0.0',
    specification: 'v4',
    provider: 'workersai.chat',
    parts: (place) => [...streamed(place), finish('error', 'stream-truncated', zero)],
  },
  {
    packages: 'openrouter 3.1.0 and 2.10.0',
    specification: 'v4',
    provider: 'openrouter',
    parts: (place) => {
      if (place === 'text') return [...text, finish('other')]
      const made = place === 'name' ? [start, delta('{}'), end, call('{}')] : [start, delta(json[place]), end]
      const whole = place === 'name' ? [] : [call(place === 'call' ? json.call : '{}')]
      return [...text, ...made, ...whole, finish('tool-calls')]
    },
  },
  {
    packages: 'ai-sdk-ollama 4.3.0',
    specification: 'v4',
    provider: 'ollama',
    parts: (place) => (place === 'call' ? [...text, call(json.call)] : text),
    fails: () => new Error('Did not receive done or success response in stream.'),
    only: ['text', 'call'],
  },
  ...['v3', 'v4'].map(
    (specification): CutForm => ({
      packages: 'ollama-v2 4.0.1 and 3.6.0',
      specification,
      provider: 'ollama.responses',
      parts: (place) =>
        place === 'text'
          ? [raw({ done: false, message: { content: 'Half' } }), ...text, finish('other')]
          : [raw({ done: false, message: {} }), ...streamed(place), finish('tool-calls', 'tool_calls')],
      only: ['text', 'call'],
    }),
  ),
  {
    packages: 'cohere 4.0.52 and 3.0.63, whose server ended the call',
    specification: 'v4',
    provider: 'cohere.chat',
    parts: () => [...text, start, delta(json.arguments), end],
    fails: () =>
      sdkError('AI_JSONParseError', 'JSON parsing failed: Text: {"a":"b.', {
        text: json.arguments,
        cause: new SyntaxError('Unterminated string in JSON at position 7'),
      }),
    only: ['arguments'],
  },
  {
    packages: 'helicone 1.0.12',
    specification: 'v2',
    provider: 'helicone',
    parts: (place) => [
      ...(place === 'name' ? [...text, start, end, call('{}')] : streamed(place)),
      finishV2('stop', 0),
    ],
    only: ['name', 'arguments', 'call'],
  },
]

/** Each form at each of its places. */
export const cutCases = cuts.flatMap((form) =>
  (form.only ?? places).map((place) => ({ title: `${form.packages}, behind the ${place}`, form, place })),
)

/** Another call that was whole before the cut. */
export const before: Part[] = [
  { type: 'tool-input-start', id: 'call_0', toolName: 'now' },
  { type: 'tool-input-end', id: 'call_0' },
  { type: 'tool-call', toolCallId: 'call_0', toolName: 'now', input: '{"a":"0"}' },
]
