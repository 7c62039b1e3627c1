import { fromJson, toJson } from '@allium/core'
import { describe, expect, it } from 'vitest'
import type { RecordedTurn } from '../src/index.ts'
import { recordingText } from '../src/recording-text.ts'

const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', $defs: { a: { $ref: '#/$defs/a' } } }
const tools = [
  { name: 'pay', description: 'Pays', jsonSchema: schema },
  { name: 'see "$"', jsonSchema: { type: 'object', $comment: undefined } },
]
const layers = [
  { agent: 'a', name: 'compact', options: { limit: { messages: Number.POSITIVE_INFINITY } } },
  { agent: 'a', name: 'b' },
]
const [bytes, map] = [Uint8Array.of(1, 2), new Map([['$a', -0]])]

describe('the text of a recording', () => {
  it.each([
    ['without requests', []],
    ['without tools', [{ messages: [{ of: 'history', from: 0, count: 2 }], settings: {} }]],
    [
      'with tools whose schemas have keys with $',
      [
        { call: 0, tools },
        { call: 1, tools: undefined },
        { call: 2, tools: [] },
      ],
    ],
    ['with bytes, maps and dates', [{ messages: [{ messages: [{ role: 'user', content: bytes }] }], settings: map }]],
  ])('is what toJson() writes, %s', (_, requests) => {
    const turn = { format: 1, context: { at: new Date(0), $own: true }, layers, requests } as unknown as RecordedTurn
    expect(fromJson(recordingText(turn))).toEqual(fromJson(toJson(turn)))
  })
})
