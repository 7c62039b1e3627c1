import { toJson } from '@allium/core'
import { expect, it } from 'vitest'
import { isPlainJson } from '../src/plain-json.ts'

it.each([
  ['text', 'Hi'],
  ['a number', 1.5],
  ['null', null],
  ['a list', [1, 'a', [true]]],
  ['an event', { event: { type: 'usage', usage: { inputTokens: 1 } }, pending: undefined }],
])('knows that %s is JSON', (_, value) => {
  expect(isPlainJson(value)).toBe(true)
})

const cycle: { self?: unknown } = {}
cycle.self = cycle

it.each([
  ['a function', { event: () => {} }],
  ['a bigint', [1n]],
  ['no number', Number.NaN],
  ['bytes', { data: Uint8Array.of(1) }],
  ['a date', new Date(0)],
  ['a cycle', cycle],
  ['a symbol', Symbol('a')],
  ['a negative zero', [-0]],
])('leaves %s to the serializer', (_, value) => {
  expect(isPlainJson(value)).toBe(false)
})

it('is true only for events that both serializers write alike', () => {
  const event = { type: 'text-delta', delta: 'Hi', path: undefined, list: [1, undefined, null] }
  expect(isPlainJson(event)).toBe(true)
  expect(JSON.stringify(event)).toBe(toJson(event))
})
