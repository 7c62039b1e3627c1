import { expect, it } from 'vitest'
import { keyRules } from '../../src/detect.ts'
import { regexLiterals, safetyOf } from './regex-literals.ts'

it.each(regexLiterals(new URL('../../src/detect/', import.meta.url)))('cannot be made slow: %s', (literal) => {
  expect(safetyOf(literal)).not.toBe('vulnerable')
})

it('every rule for a key says where it begins, and holds no beginning twice', () => {
  const begins = keyRules.flatMap((rule) => rule.begins)
  expect(begins.filter((one) => one.length < 2)).toEqual([])
  expect(keyRules.every(({ rest }) => rest.sticky)).toBe(true)
})
