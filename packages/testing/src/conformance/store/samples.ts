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

/** Returns a run with every kind of part. */
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

/** Returns a run with every field, and in them every supported value. */
export function fullTurn(from: number): StoredTurn {
  const { messages } = richTurn()
  const rest = richRest()
  return {
    turnId: 's:2',
    rootId: 's:0',
    resumes: 's:1',
    agent: 'clerk',
    version: '2.1',
    status: 'failed',
    reason: 'The provider said: "no" \u0000 👩‍👩‍👧',
    code: 'model.failed',
    startedAt: 1_700_000_000_123,
    endedAt: 1_700_000_004_567,
    usage: {
      inputTokens: 12,
      outputTokens: 7,
      cachedInputTokens: 5,
      cacheWriteTokens: 3,
      reasoningTokens: 2,
      calls: 4,
    },
    answer: '',
    idempotencyKey: "k'1 %",
    inputDigest: 'ZGlnZXN0',
    records: [
      { id: 'r1', topic: 'sale', data: anything(), at: 1_700_000_001_000 },
      { id: 'r2', topic: 'mail', data: null, at: 1_700_000_002_000 },
    ],
    from,
    messages,
    rest: { ...rest, state: { ...rest.state, any: anything() } },
  }
}

/** Returns every value that `toJson` supports. */
export function anything(): Record<string, unknown> {
  return {
    bytes: Uint8Array.of(0, 1, 127, 128, 255),
    noBytes: new Uint8Array(),
    url: new URL('https://example.com/a%20b?x=1#y'),
    date: new Date(1_700_000_000_123),
    big: 2n ** 70n,
    numbers: [-0, 0.1, 1e300, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 53 - 1],
    map: new Map<unknown, unknown>([
      ['a', new Date(1)],
      [1, { deep: Uint8Array.of(9) }],
    ]),
    set: new Set<unknown>(['a', 1n]),
    tags: { $bytes: 'AQI=', $date: 'no', $$: 1, $: 2 },
    none: null,
    empty: [{}, [], ''],
  }
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
      calls: {
        c1: {
          ...{ name: 'look', turnId: 's:1', agent: 'a', sent: 'a', args: 'b', schema: 'c', token: 'd' },
          request: { reason: '?' },
        },
      },
    },
  }
}
