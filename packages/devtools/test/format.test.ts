import { expect, test } from 'vitest'
import { brief, count, duration, money, pretty } from '../web/parts/format.ts'

test('a number has its noun, in the singular for one', () => {
  expect([count(0, 'span'), count(1, 'span'), count(2, 'model call')]).toEqual(['0 spans', '1 span', '2 model calls'])
})

test('a duration has the unit that people read', () => {
  expect([undefined, 0.2, 3.4, 1234, 61_000].map(duration)).toEqual(['…', '<1 ms', '3 ms', '1.2 s', '61 s'])
})

test('small costs keep their digits', () => {
  expect([0.000013, 0.0042, 1.5].map(money)).toEqual(['$0.000013', '$0.0042', '$1.50'])
  expect([0, 0.0000004].map(money)).toEqual(['$0', '<$0.000001'])
})

test('characters that reorder a row are shown as escapes', () => {
  const answer = { text: 'paid \u202e00.01\u202c\u2066!' }
  expect(brief(answer)).toBe('{"text":"paid \\u202e00.01\\u202c\\u2066!"}')
  expect(JSON.parse(pretty(answer))).toEqual(answer)
  expect(pretty('\u202eabc')).toBe('\\u202eabc')
})
