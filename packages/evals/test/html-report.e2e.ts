import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { headless } from '../../../e2e/headless.ts'
import { htmlReport } from '../src/report.ts'
import { hostile, reportOf, worse } from './report-kit.ts'

let browser: Browser
const address = 'http://report.test/'

beforeAll(async () => {
  browser = await chromium.launch(headless)
})

afterAll(() => browser.close())

/** A page of two evaluations with hostile texts, whose cases are open. */
async function openPage(options: BrowserContextOptions) {
  const { report, baseline } = await worse(hostile.repeat(3))
  const mixed = await reportOf({ cases: 12, invalid: 6, gates: { right: [{ min: 0.5 }, { min: 0.1 }] } })
  const context = await browser.newContext(options)
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const messages: string[] = []
  const requests: string[] = []
  page.on('console', (message) => messages.push(message.text()))
  page.on('dialog', (dialog) => {
    messages.push(dialog.message())
    void dialog.dismiss()
  })
  const body = htmlReport(
    [
      { name: 'support', report, baseline },
      { name: 'sales', report: mixed },
    ],
    { at: new Date(0) },
  )
  await page.route('**/*', (route) => {
    if (route.request().url() === address) return route.fulfill({ body, contentType: 'text/html' })
    requests.push(route.request().url())
    return route.abort()
  })
  await page.addInitScript(axe.source)
  await page.goto(address)
  for (const summary of (await page.locator('details:not([open]) > summary').all()).slice(0, 12).reverse())
    await summary.click()
  return { page, messages, requests }
}

test.each<[string, BrowserContextOptions]>([
  ['on a screen, in the light', { viewport: { width: 1280, height: 800 }, colorScheme: 'light' }],
  ['on a screen, in the dark', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' }],
  ['on a phone, in the light', { viewport: { width: 390, height: 844 }, colorScheme: 'light' }],
  ['on a phone, in the dark', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
])('the page of a report is accessible, loads nothing and fits its window %s', async (_, options) => {
  const { page, messages, requests } = await openPage(options)
  const { violations } = (await page.evaluate('axe.run()')) as axe.AxeResults
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
  expect(requests).toEqual([])
  expect(messages).toEqual([])
  expect(await page.evaluate('getComputedStyle(document.querySelector("main")).maxWidth')).toBe('960px')
})
