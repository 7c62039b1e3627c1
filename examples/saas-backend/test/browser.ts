import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { headless } from '../../../e2e/headless.ts'
import { cookieOf, type Demo, dataFolder, startDemo } from './demo.ts'

/** A demo and a browser for the tests of a file. `open` gives a page of a person, which is closed after the test. */
export function startPages() {
  const data = dataFolder()
  let demo: Demo
  let browser: Browser
  beforeAll(async () => {
    // Those that `npm run e2e` has built once.
    const { SAAS_PAGES } = process.env
    const env = { SAAS_DATA: data.dir, ...(SAAS_PAGES && { SAAS_PAGES }) }
    ;[demo, browser] = await Promise.all([startDemo(env), openBrowser()])
  }, 60_000)
  afterAll(async () => {
    await browser.close()
    expect(await demo.kill()).toBe(0)
    data.remove()
  })
  return {
    url: () => demo.url,
    browser: () => browser,
    async open(key: string, options: BrowserContextOptions = {}) {
      const opened = await pageOf(browser, demo.url, key, options)
      onTestFinished(opened.close)
      return opened
    },
  }
}

/** Debian's. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch(headless)
}

/** The page of a signed-in user. `faults` has the errors of the page. */
export async function pageOf(browser: Browser, url: string, key: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options })
  const [name, value] = (await cookieOf(url, key)).split('=') as [string, string]
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }])
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  page.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`) && dialog.dismiss())
  page.on('request', (request) => request.url().startsWith(url) || faults.push(`asked for ${request.url()}`))
  await page.goto(url)
  return { page, faults, close: () => context.close() }
}

export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text)
  await page.keyboard.press('Enter')
}

/** Saves a screenshot for CI. */
export async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `.cache/screenshots/${name}.png`, fullPage: true })
}

/** The rows of the sessions on the admin page. Other panels have rows, too, and each loads on its own. */
export function sessionRows(page: Page): Locator {
  return page.locator('.panel', { has: page.getByRole('heading', { name: 'Sessions', exact: true }) }).locator('.row')
}
