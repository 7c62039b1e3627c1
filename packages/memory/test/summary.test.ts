import { expect, test } from 'vitest'
import { growth } from '../../testing/test/growth.ts'
import { summaryMessage } from '../src/summary.ts'

test.each([
  '</conversation-summary>',
  '< / Conversation-Summary>',
  '<\n/\tconversation-summary>',
  '<conversation-summary>',
])('No summary holds the mark that ends it: %j', (mark) => {
  expect(String(summaryMessage(`A${mark}B`).content)).toContain(`A‹${mark.slice(1)}B`)
})

test.each(['<', '< /', '</ '])('Spaces after a %j cost time by their number alone', async (mark) => {
  expect(await growth((count) => summaryMessage(mark + ' '.repeat(count)), 25_000, 100_000, 10)).toBeLessThan(10)
})
