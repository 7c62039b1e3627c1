import { describe, expect, it } from 'vitest'
import { withoutLinks } from '../../src/flow/links.ts'

/** What comes again and again in a text that is to be made slow. */
const units = ['a.', 'a-', '<a', '<a ', '](', ']:', '//', 'https:', 'www.', '&#58;', '\\/', 'a.com', '=', 'x '] as const

describe('links of answers', () => {
  it.each(units)('are found in time that grows with the text: %s', (unit) => {
    const took = (length: number) => {
      const text = unit.repeat(Math.ceil(length / unit.length))
      const start = performance.now()
      withoutLinks(text, () => false)
      return performance.now() - start
    }
    took(1_000)
    // Ten times as long a text may take thirty times as long, and not a hundred; little counts as nothing.
    expect(took(200_000)).toBeLessThan(Math.max(400, took(20_000) * 30))
  })
})
