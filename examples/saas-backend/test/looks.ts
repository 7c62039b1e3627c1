import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The faults that axe-core finds, except minor ones, in words. */
export async function faultsOfAxe(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run()
    return (
      violations
        // axe takes links to conversations, such as #s-1, for skip links.
        .filter(({ id, impact }) => impact !== 'minor' && id !== 'skip-link')
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
    )
  })
}

interface Axe {
  run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>
}

/** Controls that cannot be reached by pressing Tab from the beginning of the page on, or do not show that they have the focus. */
export async function unreachable(page: Page): Promise<string[]> {
  const count = await page.evaluate((controls) => {
    const doc = (globalThis as unknown as { document: Doc }).document
    // Of a dialog that is open, because the rest of the page is inert then.
    const root = doc.querySelector('dialog[open]') ?? doc
    const all = [...root.querySelectorAll(controls)].filter((one) => one.checkVisibility() && one.tabIndex >= 0)
    for (const [at, one] of all.entries()) one.setAttribute('data-control', String(at))
    doc.activeElement?.blur()
    return all.length
  }, controls)
  const missed = new Set(Array.from({ length: count }, (_, at) => String(at)))
  for (let presses = 0; presses < count + 5 && missed.size > 0; presses++) {
    await page.keyboard.press('Tab')
    missed.delete((await focusedControl(page)) ?? '')
  }
  return Promise.all(
    [...missed].map((at) =>
      page.locator(`[data-control="${at}"]`).evaluate((one) => (one as unknown as { outerHTML: string }).outerHTML),
    ),
  )
}

/** Which control has the focus, if it shows that. */
function focusedControl(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    const { document, getComputedStyle } = globalThis as unknown as {
      document: { activeElement: { getAttribute(name: string): string | null } | null }
      getComputedStyle(of: unknown): { outlineStyle: string }
    }
    const { activeElement } = document
    if (activeElement === null || getComputedStyle(activeElement).outlineStyle === 'none') return undefined
    return activeElement.getAttribute('data-control') ?? undefined
  })
}

const controls = 'a[href], button:not(:disabled), input, textarea, select, summary, [tabindex="0"]'
interface Root {
  querySelectorAll(of: string): Iterable<Control>
}
interface Doc extends Root {
  querySelector(of: string): Root | null
  activeElement: { blur(): void } | null
}
interface Control {
  checkVisibility(): boolean
  readonly tabIndex: number
  setAttribute(name: string, value: string): void
}

/** How many pixels the page, or a part of it that no one should scroll sideways, is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { document } = globalThis as unknown as { document: { querySelectorAll(of: string): Iterable<Box> } }
    const parts = [
      ...document.querySelectorAll('html, .messages, .memory, .chats, .composer, .panel, .scrolls, .fields'),
    ]
    return Math.max(...parts.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))
  })
}
interface Box {
  scrollWidth: number
  clientWidth: number
}
