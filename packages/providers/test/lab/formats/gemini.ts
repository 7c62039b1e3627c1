import { type Answer, type Format, usage, type WireEvent } from '../format.ts'
import { geminiProblems } from './gemini-rules.ts'
import { halves } from './halves.ts'
import { data } from './sse.ts'

/** Gemini's generateContent and streamGenerateContent. */
export const gemini: Format = {
  name: 'gemini',
  source: { url: 'https://ai.google.dev/api/generate-content', read: '2026-11-29' },
  family: 'google',
  contentType: 'text/event-stream',
  problems: geminiProblems,
  events,
  tail: 0,
  errors: [
    {
      form: 'unavailable',
      event: data({ error: { code: 503, message: 'boom', status: 'UNAVAILABLE' } }),
      status: true,
    },
    {
      form: 'quota',
      event: data({ error: { code: 429, message: 'boom', status: 'RESOURCE_EXHAUSTED' } }),
      status: true,
    },
  ],
  finishes: [
    { raw: 'STOP', means: 'stop' },
    { raw: 'MAX_TOKENS', means: 'length' },
    { raw: 'SAFETY', means: 'content-filter' },
    { raw: 'RECITATION', means: 'content-filter' },
    { raw: 'MALFORMED_FUNCTION_CALL', means: 'failed' },
  ],
  failure: (status, message) => ({
    error: {
      code: status,
      message,
      status: status === 429 ? 'RESOURCE_EXHAUSTED' : status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL',
    },
  }),
  reasoning: true,
  signature: /bGFiLXNpZ25hdHVyZQ==/,
  counts: { cached: true, reasoning: true },
}

function events({ reasoning, text, calls = [], finish = 'STOP' }: Answer): WireEvent[] {
  const parts: object[] = []
  if (reasoning !== undefined) for (const piece of halves(reasoning)) parts.push({ text: piece, thought: true })
  if (text !== undefined) for (const piece of halves(text)) parts.push({ text: piece })
  calls.forEach(({ name, args }, index) => {
    // The first call of a step has the signature of the thoughts before it.
    parts.push({
      functionCall: { name, args: JSON.parse(args || '{}') },
      ...(index === 0 && { thoughtSignature: 'bGFiLXNpZ25hdHVyZQ==' }),
    })
  })
  const usageMetadata = {
    promptTokenCount: usage.input,
    cachedContentTokenCount: usage.cached,
    candidatesTokenCount: usage.output - usage.reasoning,
    thoughtsTokenCount: usage.reasoning,
    totalTokenCount: usage.input + usage.output,
  }
  const chunk = (content: object[], end: object = {}) =>
    data({
      candidates: [{ content: { role: 'model', parts: content }, index: 0, ...end }],
      usageMetadata,
      modelVersion: 'm',
      responseId: 'lab',
    })
  return [...parts.map((part) => chunk([part])), chunk([{ text: '' }], { finishReason: finish })]
}
