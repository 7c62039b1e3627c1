import type { Message, ModelChunk } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { addTool, collect } from './calls.ts'
import { messageOf } from './message-of.ts'
import { sse, wireServer } from './wire-server.ts'
import { wires } from './wires.ts'

/** Calls, gives the result of the tool, and calls again: the second request's body. */
async function secondRequest(name: string, settings = {}): Promise<{ body: unknown; chunks: ModelChunk[] }> {
  const wire = wires.find((each) => each.name === name)!
  const { url, requests } = await wireServer(sse(wire.events.join('')))
  const messages: Message[] = [{ role: 'user', content: 'hello' }]
  const chunks = await collect(wire.model(url), { messages, tools: [addTool], settings })
  const result = { type: 'tool-result', callId: 'call_1', name: 'add', content: '3' } as const
  messages.push(messageOf(chunks), { role: 'tool', content: [result] })
  await collect(wire.model(url), { messages, tools: [addTool], settings })
  return { body: requests[1]!.body, chunks }
}

describe('what a provider adds to its answer goes back to it', () => {
  it('the signature of a thinking block of Anthropic', async () => {
    const { body, chunks } = await secondRequest('anthropic')
    expect(chunks).toContainEqual({
      type: 'reasoning-delta',
      id: '0',
      delta: '',
      providerMetadata: { anthropic: { signature: 'signature' } },
    })
    expect(body).toMatchObject({
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Thinking', signature: 'signature' },
            { type: 'text', text: 'Grüße 🧅' },
            { type: 'tool_use', id: 'call_1', name: 'add', input: { a: 1 } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '3' }] },
      ],
    })
  })

  it('the encrypted reasoning of an OpenAI answer that is not stored', async () => {
    const { body } = await secondRequest('openai responses', { providerOptions: { openai: { store: false } } })
    expect(body).toMatchObject({
      input: [
        { role: 'user' },
        {
          type: 'reasoning',
          id: 'rs_1',
          encrypted_content: 'signature',
          summary: [{ type: 'summary_text', text: 'Thinking' }],
        },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Grüße 🧅' }] },
        { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: 'call_1', output: '3' },
      ],
    })
  })

  it('the ids of a stored OpenAI answer, in place of its text', async () => {
    const { body } = await secondRequest('openai responses')
    const references = ['rs_1', 'msg_1'].map((id) => ({ type: 'item_reference', id }))
    const call = { type: 'function_call', call_id: 'call_1', arguments: '{"a":1}' }
    expect(body).toMatchObject({ input: [{ role: 'user' }, ...references, call, { type: 'function_call_output' }] })
  })

  it('the thought signature of a call of Gemini', async () => {
    const { body } = await secondRequest('google')
    const call = { functionCall: { name: 'add', args: { a: 1 } }, thoughtSignature: 'signature' }
    expect(body).toMatchObject({
      contents: [
        { role: 'user' },
        { role: 'model', parts: [{ text: 'Thinking', thought: true }, { text: 'Grüße 🧅' }, call] },
        { role: 'user', parts: [{ functionResponse: { name: 'add' } }] },
      ],
    })
  })
})

describe('settings.reasoning reaches the provider', () => {
  it.each([
    ['openai responses', { reasoning: { effort: 'high' } }],
    ['anthropic', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
    ['google', { generationConfig: { thinkingConfig: { thinkingBudget: 24_576 } } }],
  ])('%s', async (name, expected) => {
    expect((await secondRequest(name, { reasoning: 'high' })).body).toMatchObject(expected)
  })
})
