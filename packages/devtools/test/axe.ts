import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Returns what axe finds in the page as it is now. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe }
    return (await inPage.run()).violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
  })
}
