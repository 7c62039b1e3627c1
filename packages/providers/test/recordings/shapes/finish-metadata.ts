import { acme, anthropic, chat, converse, google, responses, xai } from '../packages.ts'
import type { Recording } from '../recording.ts'
import { claude, completion, data, frame, gemini, message, response, textBlock, typed } from '../wire.ts'

/** What comes with the end: cost, tier, log probabilities, ratings, cache, the sequence at which it stopped. */
export const recordings: Recording[] = [
  {
    name: 'openai responses',
    models: responses(),
    answers: [
      response(...message(0, 'Done.')).map((event) =>
        event.replace('"status":"completed","usage"', '"status":"completed","service_tier":"default","usage"'),
      ),
    ],
  },
  {
    name: 'openai responses cut by its length',
    models: responses(),
    answers: [
      [
        ...response(...message(0, 'Do')).slice(0, -1),
        typed('response.incomplete', {
          response: {
            id: 'resp_1',
            created_at: 1,
            model: 'm',
            incomplete_details: { reason: 'max_output_tokens' },
            usage: { input_tokens: 20, output_tokens: 7 },
          },
        }),
      ],
    ],
  },
  {
    name: 'openai chat with log probabilities',
    models: chat(),
    settings: { providerOptions: { openai: { logprobs: true } } },
    answers: [
      completion('stop', { content: 'Done.' }).map((event) =>
        event.replace(
          '"finish_reason":null',
          '"logprobs":{"content":[{"token":"Done.","logprob":-0.1,"top_logprobs":[]}]},"finish_reason":null',
        ),
      ),
    ],
  },
  { name: 'openai-compatible', models: acme(), answers: [completion('length', { content: 'Do' })] },
  {
    name: 'xai cost',
    models: { v3: xai().v3!, v4: xai().v4! },
    answers: [
      response(...message(0, 'Done.')).map((event) =>
        event.replace('"total_tokens":27', '"total_tokens":27,"cost_in_usd_ticks":1234'),
      ),
    ],
  },
  {
    name: 'anthropic stop sequence and cache',
    models: anthropic(),
    settings: { stop: ['END'] },
    answers: [
      claude('stop_sequence', [textBlock('Done.')], {
        delta: { stop_sequence: 'END' },
        start: { usage: { input_tokens: 12, output_tokens: 1, service_tier: 'standard' } },
      }),
    ],
  },
  {
    name: 'google ratings',
    models: google(),
    answers: [
      [
        gemini([{ text: 'Done.' }], {
          finishReason: 'MAX_TOKENS',
          safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'NEGLIGIBLE', blocked: false }],
        }),
      ],
    ],
  },
  {
    name: 'google, blocked',
    models: google(),
    answers: [
      [
        data({
          candidates: [{ content: {}, finishReason: 'SAFETY', index: 0 }],
          usageMetadata: { promptTokenCount: 20, totalTokenCount: 20 },
        }),
      ],
    ],
  },
  {
    name: 'bedrock trace and cache',
    models: converse(),
    answers: [
      [
        frame('messageStart', { role: 'assistant' }),
        frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Done.' } }),
        frame('contentBlockStop', { contentBlockIndex: 0 }),
        frame('messageStop', { stopReason: 'stop_sequence', additionalModelResponseFields: { stop_sequence: 'END' } }),
        frame('metadata', {
          usage: {
            inputTokens: 20,
            outputTokens: 7,
            totalTokens: 27,
            cacheReadInputTokens: 0,
            cacheWriteInputTokens: 4,
          },
          metrics: { latencyMs: 1 },
        }),
      ],
    ],
  },
]
