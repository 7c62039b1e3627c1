import type { StateRecord } from '@allium/server/inspect'
import { expect, test } from 'vitest'
import { reducersIn, valuesAfter } from '../web/store/state-values.ts'

const write = (key: string, value: unknown, reducer?: string) =>
  ({ key, value, ...(reducer !== undefined && { reducer }) }) as StateRecord
const writes = [write('a', 1, '(a, b) => a + b'), write('b', 'x'), write('a', 3)]

test('shows the written key first, with its value before, then the values of the other keys', () => {
  expect(valuesAfter(writes, 2)).toEqual([
    ['a', { value: 3, written: { before: 1 } }],
    ['b', { value: 'x' }],
  ])
  expect(valuesAfter(writes, 0)).toEqual([['a', { value: 1, written: { before: undefined } }]])
})

test('knows the reducer of a key from the first write of a turn', () => {
  expect([...reducersIn(writes)]).toEqual([['a', '(a, b) => a + b']])
})
