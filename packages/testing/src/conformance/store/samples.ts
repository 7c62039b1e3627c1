import type { Message, Snapshot, StoredTurn } from '@allium/core'
import { storedTurn } from './bench.ts'

/** Texts that a careless encoding changes. */
export const texts: readonly string[] = [
  '',
  ' ',
  'line\nbreak\r\n\ttab',
  'quote " back \\ slash',
  'emoji 👩‍👩‍👧 and flag 🇳🇴',
  'e\u0301 is not \u00e9',
  '\u202eright to left',
  'nul \u0000 in a text',
  '\u2028 \u2029 \ufeff',
  'ends with a space ',
  '{"$bytes":"AQI="}',
  'x'.repeat(100_000),
]

/** A run with every kind of part. */
export function richTurn(): StoredTurn {
  const bytes = Uint8Array.of(0, 1, 127, 128, 255)
  const providerMetadata = { anthropic: { signature: 'c2ln', nested: { list: [1, 'two', null, true] } } }
  const messages: Message[] = [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      id: 'm-1',
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'image', data: bytes, mediaType: 'image/png' },
        { type: 'image', data: new URL('https://example.com/a%20b.png?x=1#y'), mediaType: 'image/png' },
        { type: 'file', data: 'aGVsbG8=', mediaType: 'text/plain', filename: 'hello.txt' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'It is a picture.', providerMetadata },
        { type: 'text', text: 'Let me see.' },
        {
          type: 'tool-call',
          callId: 'c1',
          name: 'look',
          args: { deep: { list: [1, -0.5, null, [], {}] }, '': 'empty' },
        },
        { type: 'tool-call', callId: 'c2', name: 'look', args: { $bytes: 'AQI=', $url: 'x' }, providerMetadata },
      ],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          callId: 'c1',
          name: 'look',
          content: [{ type: 'image', data: bytes, mediaType: 'image/png' }],
        },
        { type: 'tool-result', callId: 'c2', name: 'look', content: 'No.', isError: true },
      ],
    },
    { role: 'assistant', content: 'Half an ans', interrupted: true },
  ]
  return storedTurn({ turnId: 't1', version: '2.1', status: 'aborted', messages, rest: richRest() })
}

function richRest(): Omit<Snapshot, 'history'> {
  return {
    state: {
      'cost:total': 0.1,
      'cost:models': { 'openai/gpt-5': { calls: 2 } },
      list: [[], [1]],
      none: null,
      flag: false,
    },
    turnCount: 3,
    runCount: 5,
    once: { 'c1:mailed': { at: 12 } },
    usedApprovals: ['token-1'],
    suspension: {
      turnId: 's:1',
      rootId: 's:0',
      stepIndex: 2,
      state: { turn: 1 },
      calls: {
        c1: { name: 'look', turnId: 's:1', sent: 'a', args: 'b', schema: 'c', token: 'd', request: { reason: '?' } },
      },
    },
  }
}
