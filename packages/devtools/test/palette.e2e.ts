import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ask, openPage, startProject } from './project.ts'

async function command(page: Page, query: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search commands' }).fill(query)
  await page.keyboard.press('Enter')
}

test.each([1300, 390])('the keyboard alone opens sessions and views, at %i px', async (width) => {
  const project = await startProject()
  const { page, faults } = await openPage(project.inspector, { viewport: { width, height: 800 } })
  await project.send('/sessions/order-7/runs', { input: 'Hello' })
  await expect.poll(() => page.locator('.session-item').count()).toBe(1)
  await command(page, 'order-7')
  await page.getByText('You asked: Hello (question 1)').waitFor()
  await command(page, 'view usage')
  await page.getByRole('rowheader', { name: 'Turn 1' }).waitFor()
  await command(page, 'new session')
  await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Message')
  await page.keyboard.type('typed')
  await page.keyboard.press('Enter')
  await page.getByText('You asked: typed (question 1)').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  expect(faults).toEqual([])
})

test('the palette is a combobox: arrows move the active option, Escape closes it and gives the focus back', async () => {
  const project = await startProject()
  const { page } = await openPage(project.inspector)
  await page.getByLabel('Message', { exact: true }).focus()
  await page.keyboard.press('Meta+k')
  const field = page.getByRole('combobox', { name: 'Search commands' })
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  const active = page.locator(`#${await field.getAttribute('aria-activedescendant')}`)
  expect(await active.getAttribute('aria-selected')).toBe('true')
  expect(await page.getByRole('option', { selected: true }).count()).toBe(1)
  await field.fill('no such command')
  await page.getByText('No command matches.').waitFor()
  await page.keyboard.press('Escape')
  await field.waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Message')
})

test('stops and forks the session, acts as a preset, and switches the theme', async () => {
  const project = await startProject()
  const { page } = await openPage(project.inspector, { colorScheme: 'light' })
  const jane = { name: 'Jane', identity: { principal: { tenantId: 'acme', userId: 'jane' } } }
  await page.evaluate(`localStorage.setItem('allium:presets', '${JSON.stringify([jane])}')`)
  await command(page, 'act as jane')
  await page.getByRole('button', { name: /^as .*jane/ }).waitFor()
  await ask(page, 'wait for it')
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  await command(page, 'stop the turn')
  await page.locator('.turn-footer', { hasText: 'aborted' }).waitFor()
  await page.getByRole('button', { name: 'Fork', exact: true }).waitFor()
  await command(page, 'fork')
  await expect.poll(() => page.locator('.session-item').count()).toBe(2)
  await command(page, 'dark theme')
  await page.getByRole('button', { name: 'Switch to the light theme' }).waitFor()
})
