import type { Message, Part } from '@allium/core'
import type { Format } from '../format.ts'

/** Histories that other providers began, with all that only they can read. */
export function foreignHistories({ family }: Format): { family: string; messages: Message[] }[] {
  return histories.filter((one) => one.family !== family)
}

const histories = [
  history('anthropic', 'toolu_01A09q90qw90lq917835lq9', [
    { type: 'custom', kind: 'anthropic.message_start', providerMetadata: { anthropic: { id: 'msg_1' } } },
    { type: 'reasoning', text: 'Thinking', providerMetadata: { anthropic: { signature: 'of-anthropic' } } },
    { type: 'reasoning', text: '', providerMetadata: { anthropic: { redactedData: 'of-anthropic' } } },
  ]),
  history('openai', 'call_1', [
    {
      type: 'reasoning',
      text: 'Thinking',
      providerMetadata: { openai: { itemId: 'rs_9', reasoningEncryptedContent: 'of-openai' } },
    },
    { type: 'custom', kind: 'openai.compaction', providerMetadata: { openai: { itemId: 'cmp_9' } } },
  ]),
  history('google', 'a1b2c3', [
    { type: 'reasoning', text: 'Thinking', providerMetadata: { google: { thoughtSignature: 'b2YtZ29vZ2xl' } } },
  ]),
  history('bedrock', 'tooluse_1', [
    { type: 'reasoning', text: 'Thinking', providerMetadata: { bedrock: { signature: 'of-bedrock' } } },
  ]),
  history('moonshot', 'functions.add:0', [{ type: 'reasoning', text: 'Thinking' }]),
  history('workers-ai', `chatcmpl-tool-${'0a'.repeat(16)}::lab`, [{ type: 'reasoning', text: 'Thinking' }]),
]

function history(family: string, callId: string, parts: Part[]): { family: string; messages: Message[] } {
  const own = parts[0]?.providerMetadata
  const call: Part = { type: 'tool-call', callId, name: 'add', args: { a: 3 }, ...(own && { providerMetadata: own }) }
  return {
    family,
    messages: [
      { role: 'user', content: 'How many?' },
      { role: 'assistant', content: [...parts, { type: 'text', text: 'Half of it' }, call] },
      { role: 'tool', content: [{ type: 'tool-result', callId, name: 'add', content: 'three of them' }] },
      { role: 'assistant', content: 'Three.' },
      { role: 'user', content: 'And now?' },
    ],
  }
}
