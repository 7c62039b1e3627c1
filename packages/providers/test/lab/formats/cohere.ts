import { type Answer, type Format, usage, type WireEvent } from '../format.ts'
import { cohereProblems } from './cohere-rules.ts'
import { halves } from './halves.ts'
import { typed } from './sse.ts'

/** Cohere's Chat, version 2. */
export const cohere: Format = {
  name: 'cohere',
  source: { url: 'https://docs.cohere.com/v2/docs/streaming', read: '2026-11-29' },
  family: 'cohere',
  contentType: 'text/event-stream',
  problems: cohereProblems,
  events,
  tail: 0,
  errors: [{ form: 'message-end with an error', event: end('ERROR', { error: 'boom' }), status: false }],
  finishes: [
    { raw: 'COMPLETE', means: 'stop' },
    { raw: 'STOP_SEQUENCE', means: 'stop' },
    { raw: 'MAX_TOKENS', means: 'length' },
    { raw: 'TIMEOUT', means: 'failed' },
    { raw: 'ERROR', means: 'failed' },
  ],
  failure: (_status, message) => ({ id: 'lab', message }),
  reasoning: true,
  callId: (n) => `add_${n}`,
  counts: { cached: false, reasoning: false },
}

function end(finish_reason: string, more: object = {}): string {
  const tokens = { input_tokens: usage.input, output_tokens: usage.output }
  return typed('message-end', { id: 'lab', delta: { finish_reason, usage: { billed_units: tokens, tokens }, ...more } })
}

function events({ reasoning, text, calls = [], finish }: Answer): WireEvent[] {
  const out = [
    typed('message-start', {
      id: 'lab',
      delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
    }),
  ]
  let index = 0
  const block = (type: 'thinking' | 'text', whole: string) => {
    out.push(typed('content-start', { index, delta: { message: { content: { type, [type]: '' } } } }))
    for (const piece of halves(whole))
      out.push(typed('content-delta', { index, delta: { message: { content: { [type]: piece } } } }))
    out.push(typed('content-end', { index: index++ }))
  }
  if (reasoning !== undefined) block('thinking', reasoning)
  // Beside calls, the text is the plan.
  if (text !== undefined && calls.length > 0)
    for (const piece of halves(text)) out.push(typed('tool-plan-delta', { delta: { message: { tool_plan: piece } } }))
  else if (text !== undefined) block('text', text)
  for (const [at, { id, name, args }] of calls.entries()) {
    const call = (tool_calls: object) => ({ index: at, delta: { message: { tool_calls } } })
    out.push(typed('tool-call-start', call({ id, type: 'function', function: { name, arguments: '' } })))
    if (args !== '')
      for (const piece of halves(args)) out.push(typed('tool-call-delta', call({ function: { arguments: piece } })))
    out.push(typed('tool-call-end', { index: at }))
  }
  out.push(end(finish ?? (calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE')))
  return out
}
