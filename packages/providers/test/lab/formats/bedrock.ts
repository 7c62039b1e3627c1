import { type Answer, type Format, usage, type WireEvent } from '../format.ts'
import { bedrockProblems } from './bedrock-rules.ts'
import { frame } from './event-stream.ts'
import { halves } from './halves.ts'

/** Amazon Bedrock's ConverseStream, in the binary event stream of AWS. */
export const bedrock: Format = {
  name: 'bedrock',
  source: {
    url: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html',
    read: '2026-11-29',
  },
  family: 'bedrock',
  contentType: 'application/vnd.amazon.eventstream',
  problems: bedrockProblems,
  events,
  tail: 1,
  errors: [
    { form: 'throttling', event: frame('throttlingException', { message: 'boom' }, 'exception'), status: true },
    { form: 'internal', event: frame('internalServerException', { message: 'boom' }, 'exception'), status: true },
    {
      form: 'model stream',
      event: frame('modelStreamErrorException', { message: 'boom', originalStatusCode: 503 }, 'exception'),
      status: true,
    },
  ],
  finishes: [
    { raw: 'end_turn', means: 'stop' },
    { raw: 'stop_sequence', means: 'stop' },
    { raw: 'max_tokens', means: 'length' },
    { raw: 'content_filtered', means: 'content-filter' },
    { raw: 'guardrail_intervened', means: 'content-filter' },
  ],
  failure: (_status, message) => ({ message }),
  reasoning: true,
  signature: /lab-signature/,
  callId: (n) => `tooluse_${n}`,
  counts: { cached: true, reasoning: false },
}

function events({ reasoning, text, calls = [], finish }: Answer): WireEvent[] {
  const out = [frame('messageStart', { role: 'assistant' })]
  let contentBlockIndex = 0
  const block = (start: object | undefined, deltas: object[]) => {
    if (start !== undefined) out.push(frame('contentBlockStart', { contentBlockIndex, start }))
    for (const delta of deltas) out.push(frame('contentBlockDelta', { contentBlockIndex, delta }))
    out.push(frame('contentBlockStop', { contentBlockIndex: contentBlockIndex++ }))
  }
  if (reasoning !== undefined)
    block(undefined, [
      ...halves(reasoning).map((piece) => ({ reasoningContent: { text: piece } })),
      { reasoningContent: { signature: 'lab-signature' } },
    ])
  if (text !== undefined)
    block(
      undefined,
      halves(text).map((piece) => ({ text: piece })),
    )
  for (const { id, name, args } of calls)
    block(
      { toolUse: { toolUseId: id, name } },
      (args === '' ? [] : halves(args)).map((input) => ({ toolUse: { input } })),
    )
  out.push(frame('messageStop', { stopReason: finish ?? (calls.length > 0 ? 'tool_use' : 'end_turn') }))
  const tokens = {
    inputTokens: usage.input - usage.cached,
    cacheReadInputTokens: usage.cached,
    outputTokens: usage.output,
    totalTokens: usage.input + usage.output,
  }
  out.push(frame('metadata', { usage: tokens, metrics: { latencyMs: 1 } }))
  return out
}
