import { describe, expect, test } from 'vitest'
import { findPages } from './pages.ts'
import { sentenceLengths, wrongTerms } from './prose.ts'

const pages = findPages()

describe('the prose of the docs', () => {
  test.each(pages.map((page) => [page.path, page] as const))('uses the terms of the field: %s', async (_, page) => {
    expect(await wrongTerms(page)).toEqual([])
  })

  test('finds a term that is no longer used, but not in code', async () => {
    const lines = [
      '# Approvals',
      '',
      'The decider approves.',
      '',
      '`canDecide` and',
      '',
      '```ts',
      'const keeper = 1',
      '```',
    ]
    expect(await wrongTerms({ path: 'page.md', lines })).toEqual([expect.stringContaining('page.md:3: ')])
  })

  test('has one task a page in the guides of servers, stores and durable runs: at most 1,200 words', () => {
    const guides = pages.filter(({ path }) => /^docs\/guide\/(server|stores|durable)(\/.+)?\.md$/.test(path))
    expect(guides.length).toBeGreaterThan(20)
    const long = guides.filter(({ lines }) => lines.join(' ').split(/\s+/).length > 1200)
    expect(long.map(({ path }) => path)).toEqual([])
  })

  test('has short sentences: the median is at most 15 words, and nine of ten have at most 28', () => {
    const lengths = sentenceLengths(pages)
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(15)
    expect(lengths[Math.floor(lengths.length * 0.9)]).toBeLessThanOrEqual(28)
  })
})
