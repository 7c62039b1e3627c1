import { findAll, TextWindow } from '@allium/shared/detect'
import { describe, expect, it } from 'vitest'
import { regexLiterals, safetyOf } from '../../shared/test/detect/regex-literals.ts'
import { growth } from '../../testing/test/growth.ts'
import { piiDetectors } from '../src/pii/detectors.ts'

const literals = regexLiterals(new URL('../src/', import.meta.url))

/** Patterns whose time grows with the square of a length that is bounded: by the longest finding, or that of an address. */
const windowed: ReadonlySet<string> = new Set([
  String.raw`/(?<![A-Za-z0-9])[A-Za-z](?:[A-Za-z](?:\d(?:\d[0-9A-Za-z .-]*)?)?)?$/`, // of an end: 50 characters
  String.raw`/(?<![A-Za-z0-9])(?:\+?[( ]{0,2})?(?:\d[\d ()./#-]*(?:[xe#][a-z.]*[ ]?\d*)?)?$/`, // 64 characters
  // Of a placeholder: the search by chance, which is all that recheck has for these, runs into its own limits on a busy machine.
  String.raw`/\[(?:[A-Z][A-Z0-9_]{0,50})?$/`,
  String.raw`/\[([A-Z][A-Z0-9_]{0,40})_(\d{1,9})\]/g`,
])

describe('the regular expressions of guard', () => {
  it.each(literals.filter((literal) => !windowed.has(literal)))('cannot be made slow: %s', (literal) => {
    expect(safetyOf(literal)).not.toBe('vulnerable')
  })
})

describe('the detectors of guard.pii', () => {
  const units = [
    'a@',
    '1-',
    '1 ',
    'a.',
    'DE89 ',
    '4111 1111 1111 1112 ',
    '+1',
    '(',
    '0 1',
    'a@b.',
    '::',
    '1.',
    'eyJa.',
    'sk-a',
    '4 ',
    'aa11 ',
    '078-05-112',
    '415-555-',
    'a',
  ]

  it.each(units)('take time by the length of the text alone: %s', async (unit) => {
    for (const detector of Object.values(piiDetectors).flat()) {
      const find = (size: number) => findAll([detector], unit.repeat(size / unit.length))
      expect(await growth(find, 50_000, 400_000, 32), detector.type).toBeLessThan(32)
      const add = (count: number) => new TextWindow([detector]).add(unit.repeat(count))
      expect(await growth(add, 1_000, 8_000, 32), detector.type).toBeLessThan(32)
    }
  })
})
