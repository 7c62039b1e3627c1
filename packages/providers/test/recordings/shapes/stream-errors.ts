import { acme, anthropic, chat, converse, google, interactions, responses, xai } from '../packages.ts'
import type { Recording } from '../recording.ts'
import {
  claude,
  completion,
  data,
  frame,
  gemini,
  interaction,
  message,
  response,
  step,
  textBlock,
  typed,
} from '../wire.ts'

const begun = response(...message(0, 'It is')).slice(0, -1)
const overloaded = { type: 'server_error', code: 'server_error', message: 'boom', param: null }

/** A 200 that fails on its way, and what its failure says. */
export const recordings: Recording[] = [
  {
    name: 'openai responses, an error',
    models: responses(),
    answers: [[...begun, typed('error', { sequence_number: 9, error: overloaded })]],
    fails: { status: 500, message: 'boom' },
  },
  {
    name: 'openai responses, a limit',
    models: responses(),
    answers: [
      [
        ...begun,
        typed('error', { sequence_number: 9, error: { ...overloaded, type: 'tokens', code: 'rate_limit_exceeded' } }),
      ],
    ],
    fails: { status: 429, message: 'boom' },
  },
  {
    name: 'openai responses, failed',
    models: responses(),
    answers: [
      [
        ...begun,
        typed('response.failed', {
          sequence_number: 9,
          response: { id: 'resp_1', status: 'failed', error: { code: 'server_error', message: 'boom' } },
        }),
      ],
    ],
    fails: { status: 500, message: 'boom' },
  },
  {
    name: 'openai chat',
    models: chat(),
    answers: [[...completion('stop', { content: 'It is' }).slice(0, 2), data({ error: overloaded })]],
    fails: { status: 500, message: 'boom' },
  },
  {
    name: 'openai-compatible',
    models: acme(),
    answers: [[...completion('stop', { content: 'It is' }).slice(0, 2), data({ error: overloaded })]],
    fails: { status: 500, message: 'boom' },
  },
  {
    name: 'xai',
    models: { v3: xai().v3!, v4: xai().v4! },
    answers: [[...begun, typed('error', { code: 'server_error', message: 'boom', param: null, sequence_number: 9 })]],
    fails: { status: 500, message: 'boom' },
  },
  {
    name: 'anthropic',
    models: anthropic(),
    answers: [
      [
        ...claude('end_turn', [textBlock('It is')]).slice(0, 3),
        typed('error', { error: { type: 'overloaded_error', message: 'boom' } }),
      ],
    ],
    fails: { status: 529, message: 'boom' },
  },
  {
    name: 'google',
    models: google(),
    answers: [[gemini([{ text: 'It is' }]), data({ error: { code: 503, message: 'boom', status: 'UNAVAILABLE' } })]],
    fails: { status: 503, message: 'boom' },
  },
  {
    name: 'google interactions',
    models: interactions(),
    answers: [
      [
        ...interaction('completed', ...step(0, { type: 'model_output' }, { type: 'text', text: 'It is' })).slice(0, 3),
        data({ event_type: 'error', error: { code: 'UNAVAILABLE', message: 'boom' } }),
      ],
    ],
    fails: { status: 503, message: 'boom' },
  },
  {
    name: 'bedrock converse, throttled',
    models: converse(),
    answers: [
      [
        frame('messageStart', { role: 'assistant' }),
        frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'It is' } }),
        frame('throttlingException', { message: 'boom' }, 'exception'),
      ],
    ],
    fails: { status: 429, message: 'boom' },
  },
]
