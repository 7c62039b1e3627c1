import { expect, test } from 'vitest'
import { ask, openPage, openView, startProject } from './project.ts'

/** Collects the long tasks of the page, and the largest number of rows in the document. */
const observe = `
  window.longest = 0
  window.rows = 0
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration)
  }).observe({ type: 'longtask' })
  setInterval(() => {
    window.rows = Math.max(window.rows, document.querySelectorAll('.virtual-row, .chat-row, li').length)
  }, 50)
`

test('a turn of 10,000 steps keeps at most 300 rows in the document and no task over 100 ms', async () => {
  process.env.STEPS = '10000'
  const project = await startProject()
  delete process.env.STEPS
  const { page, faults } = await openPage(project.inspector)
  await page.evaluate(observe)
  await ask(page, 'look up many things')
  await page.getByText('All done.').waitFor({ timeout: 280_000 })
  for (const view of ['State', 'Events', 'Logs', 'Agent', 'Onion']) await openView(page, view)
  await page.getByRole('tree').focus()
  for (const key of ['End', 'ArrowRight', 'PageUp', 'Home']) await page.keyboard.press(key)
  await page
    .getByText('20,001 spans')
    .or(page.getByText(/\d+,\d+ spans/))
    .waitFor()
  const { longest, rows } = await page.evaluate<{ longest: number; rows: number }>('({ longest, rows })')
  expect(rows).toBeLessThanOrEqual(300)
  expect(longest).toBeLessThanOrEqual(100)
  expect(faults).toEqual([])
}, 300_000)
