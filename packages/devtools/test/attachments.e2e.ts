import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ask, openPage, sharedProject, startProject } from './project.ts'

const shared = sharedProject()

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGNkYPjPwMDAxMDAwMDAAAAKDQEDvYd7MwAAAABJRU5ErkJggg==',
  'base64',
)
const hostileName = '"><img src=x onerror="window.hacked = true">.txt'

type GivenFile = { name: string; mimeType: string; buffer: Buffer }

async function attach(page: Page, ...files: GivenFile[]): Promise<void> {
  await page.locator('input[type=file]').setInputFiles(files)
}

test('an image is shown in the history and in the request as sent, also after a reload of the page', async () => {
  const project = await startProject()
  const { page, faults } = await openPage(project.inspector)
  await attach(page, { name: 'dot.png', mimeType: 'image/png', buffer: png })
  await page.getByRole('list', { name: 'Attached files' }).getByText('dot.png').waitFor()
  await ask(page, 'Look')
  await page.getByText('You asked: [').waitFor()
  await page.getByRole('log').getByRole('img', { name: 'Image, 79 bytes' }).waitFor()
  await page
    .getByRole('treeitem', { name: /model openai/ })
    .last()
    .click()
  await page.getByRole('region', { name: 'Details' }).getByRole('img', { name: 'Image, 79 bytes' }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: /completed/ }).click()
  await page.getByRole('log').getByRole('img', { name: 'Image, 79 bytes' }).waitFor()
  const width = await page.evaluate('document.querySelector("[role=log] img").naturalWidth')
  expect([width, faults]).toEqual([2, []])
})

test('a hostile file name stays text, and the file can be saved unchanged', async () => {
  const project = shared()
  const { page, faults } = await openPage(project.inspector)
  await attach(page, { name: hostileName, mimeType: 'text/html', buffer: Buffer.from('<script>1</script>') })
  await ask(page, 'Read it')
  await page.getByRole('log').getByText(hostileName, { exact: true }).waitFor()
  await page.locator('.turn-footer', { hasText: 'completed' }).waitFor()
  const save = page.getByRole('log').getByRole('button', { name: `Save ${hostileName}` })
  const [download] = await Promise.all([page.waitForEvent('download'), save.click()])
  expect(readFileSync(await download.path(), 'utf8')).toBe('<script>1</script>')
  expect([await page.evaluate('window.hacked'), await page.locator('main img').count(), faults]).toEqual([
    undefined,
    0,
    [],
  ])
})

test('Edit and run again sends the files of the turn again', async () => {
  const project = shared()
  const { page } = await openPage(project.inspector)
  await attach(page, { name: 'dot.png', mimeType: 'image/png', buffer: png })
  await ask(page, 'Look')
  await page.locator('.turn-footer', { hasText: 'completed' }).waitFor()
  await page.getByRole('button', { name: 'Edit and run again' }).click()
  await page.getByLabel('Edited message').fill('Look again')
  await page.getByRole('button', { name: 'Run in a fork' }).click()
  await page.getByRole('log').getByText('Look again', { exact: true }).waitFor()
  await page.getByRole('log').getByRole('img', { name: 'Image, 79 bytes' }).waitFor()
})

test('files that the server would reject are not sent: the composer says why', async () => {
  const project = shared()
  const { page } = await openPage(project.inspector)
  const large = (name: string) => ({ name, mimeType: 'image/png', buffer: Buffer.alloc(4_000_000) })
  await attach(page, large('a.png'), large('b.png'))
  await page.getByRole('alert').getByText('b.png does not fit').waitFor()
  await page.getByRole('button', { name: 'Remove a.png' }).click()
  expect(await page.getByRole('list', { name: 'Attached files' }).count()).toBe(0)
  await attach(page, ...Array.from({ length: 21 }, (_, at) => ({ name: `${at}`, mimeType: '', buffer: png })))
  await page.getByRole('alert').getByText('at most 20 files').waitFor()
})
