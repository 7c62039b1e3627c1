import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { cookieOf } from './demo.ts'

/** Debian's. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
}

/** A page of somebody who is signed in; `faults` has what went wrong in it. */
export async function pageOf(browser: Browser, url: string, key: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options })
  const [name, value] = (await cookieOf(url, key)).split('=') as [string, string]
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }])
  const page = await context.newPage()
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

/** Keeps a picture where CI finds it. */
export async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `.cache/screenshots/${name}.png`, fullPage: true })
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The faults that axe-core calls serious or critical, in words. */
export async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}

interface Axe {
  run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>
}

/** Controls that cannot be reached by pressing Tab, from the beginning of the page on. */
export async function unreachable(page: Page): Promise<string[]> {
  const count = await page.evaluate((controls) => {
    const doc = (globalThis as unknown as { document: Doc }).document
    const all = [...doc.querySelectorAll(controls)].filter((one) => one.checkVisibility() && one.tabIndex >= 0)
    for (const [at, one] of all.entries()) one.setAttribute('data-control', String(at))
    doc.activeElement?.blur()
    return all.length
  }, controls)
  const missed = new Set(Array.from({ length: count }, (_, at) => String(at)))
  for (let presses = 0; presses < count + 5 && missed.size > 0; presses++) {
    await page.keyboard.press('Tab')
    missed.delete(
      (await page
        .locator(':focus')
        .first()
        .getAttribute('data-control', { timeout: 1000 })
        .catch(() => '')) ?? '',
    )
  }
  return Promise.all(
    [...missed].map((at) =>
      page.locator(`[data-control="${at}"]`).evaluate((one) => (one as unknown as { outerHTML: string }).outerHTML),
    ),
  )
}

const controls = 'a[href], button:not(:disabled), input, textarea, select, summary, [tabindex="0"]'
interface Doc {
  querySelectorAll(of: string): Iterable<Control>
  activeElement: { blur(): void } | null
}
interface Control {
  checkVisibility(): boolean
  readonly tabIndex: number
  setAttribute(name: string, value: string): void
}

/** How many pixels the page is wider than the window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = (globalThis as unknown as { document: { documentElement: Box } }).document
      .documentElement
    return scrollWidth - clientWidth
  })
}
interface Box {
  scrollWidth: number
  clientWidth: number
}
