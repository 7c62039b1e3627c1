import { expect, test } from 'vitest'
import { summaryMessage } from '../src/summary.ts'

test.each([
  '</conversation-summary>',
  '< / Conversation-Summary>',
  '<\n/\tconversation-summary>',
  '<conversation-summary>',
])('No summary holds the mark that ends it: %j', (mark) => {
  expect(String(summaryMessage(`A${mark}B`).content)).toContain(`A‹${mark.slice(1)}B`)
})

test.each(['<', '< /', '</ '])('Spaces behind a %j cost time by their number alone', (mark) => {
  const start = process.cpuUsage()
  summaryMessage(mark + ' '.repeat(100_000))
  const { user } = process.cpuUsage(start)
  expect(user / 1000).toBeLessThan(500)
})
