import type { BrowserContextOptions } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe.ts'
import { ask, openPage, openView, sharedProject } from './project.ts'

const shared = sharedProject()

const narrow = { width: 390, height: 844 }
/** `npm run looks` takes each width in each scheme, and CI each of them once. */
const looks: [string, BrowserContextOptions][] = [
  ['light', { colorScheme: 'light' }],
  ['390 px wide and dark', { viewport: narrow, colorScheme: 'dark' }],
]
if (process.env.ALLIUM_EVERY_LOOK !== undefined)
  looks.push(['dark', { colorScheme: 'dark' }], ['390 px wide', { viewport: narrow }])

test.each(looks)(
  'axe finds nothing in any view: %s',
  async (_, options) => {
    const project = shared()
    const { page, faults } = await openPage(project.inspector, options)
    const goTo = async (name: string) => {
      if (options.viewport !== undefined) await page.getByRole('navigation', { name: 'Parts' }).getByText(name).click()
    }
    const file = { name: 'a "name".txt', mimeType: 'text/plain', buffer: Buffer.from('text') }
    await page.locator('input[type=file]').setInputFiles([file])
    await page.getByRole('list', { name: 'Attached files' }).waitFor()
    expect(await violations(page)).toEqual([])
    await ask(page, 'Hello')
    await page.locator('.turn-footer', { hasText: 'completed' }).waitFor()
    await ask(page, 'look up many things')
    await page.getByText('All done.').waitFor()
    await ask(page, 'please refund it')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    expect(await violations(page)).toEqual([])
    await goTo('Inspect')
    await page.getByRole('treeitem').nth(3).click()
    for (const view of ['Onion', 'State', 'Events', 'Recall', 'Usage', 'Logs', 'Agent', 'Evals', 'Replay']) {
      await openView(page, view)
      expect(await violations(page), view).toEqual([])
    }
    await goTo('Sessions')
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Control+k')
    await page.getByRole('listbox').getByRole('option').nth(4).waitFor()
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^as / }).click()
    await page.getByRole('dialog', { name: 'Acting as' }).waitFor()
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(faults).toEqual([])
  },
  240_000,
)

test('the tree of layers works with the keyboard', async () => {
  const project = shared()
  const { page } = await openPage(project.inspector)
  await ask(page, 'Hello')
  await page.getByText('You asked: Hello').waitFor()
  await page.getByRole('tree').focus()
  await page.keyboard.press('Home')
  const count = await page.getByRole('treeitem').count()
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => page.getByRole('treeitem').count()).toBe(1)
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => page.getByRole('treeitem').count()).toBe(count)
  await page.keyboard.press('End')
  await page.getByRole('region', { name: 'Details of openai/gpt-5-mini' }).waitFor()
})

test('the toggle changes the theme, and the browser keeps it', async () => {
  const project = shared()
  const { page } = await openPage(project.inspector, { colorScheme: 'light' })
  await page.getByRole('button', { name: 'Switch to the dark theme' }).click()
  await page.reload()
  await page.getByRole('button', { name: 'Switch to the light theme' }).waitFor()
  expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(22, 24, 29)')
})
