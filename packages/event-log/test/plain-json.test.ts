import { toJson } from '@allium/core'
import { expect, it } from 'vitest'
import { eventText, isPlainJson } from '../src/plain-json.ts'

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
  ['a key that begins with $', { $bytes: 'AQ' }],
])('leaves %s to the serializer', (_, value) => {
  expect(isPlainJson(value)).toBe(false)
})

it.each([
  [{ type: 'text-delta', delta: 'Hi', path: undefined }],
  [{ data: Uint8Array.of(1), $at: new Date(0), list: [undefined, -0, Number.NaN] }],
])('writes %j as toJson() does', (event) => {
  expect(eventText(event)).toBe(toJson(event))
})
