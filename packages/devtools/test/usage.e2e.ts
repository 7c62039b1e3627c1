import { expect, test } from 'vitest'
import { ask, openPage, openView, startProject } from './project.ts'

test('plots the tokens and the cost of turns and of sessions, and has them in a table', async () => {
  const project = await startProject()
  const { page, faults } = await openPage(project.inspector)
  await project.send('/sessions/other/runs', { input: 'Hello' })
  await ask(page, 'first')
  await page.getByText('You asked: first (question 1)').waitFor()
  await ask(page, 'second')
  await page.getByText('You asked: second (question 2)').waitFor()
  await openView(page, 'Usage')
  await page.getByRole('img', { name: /^Cost: \$0\.0/ }).waitFor()
  await expect.poll(() => page.getByRole('rowheader').allTextContents()).toEqual(['Turn 1', 'Turn 2', 'Total'])
  await page.getByLabel('By').selectOption('Sessions')
  await page.getByRole('rowheader', { name: 'other' }).waitFor()
  await expect.poll(() => page.getByRole('rowheader').count()).toBe(3)
  const row = page.getByRole('row', { name: /^Total 3 / })
  expect(await row.textContent()).toMatch(/\$0\.0/)
  expect(faults).toEqual([])
})

test('the feedback of people is beside the turns that it is about', async () => {
  const project = await startProject()
  const { page, faults } = await openPage(project.inspector)
  await (await project.send('/sessions/rated/runs', { input: 'Hello' })).text()
  const { turns } = (await (await project.send('/inspect/sessions/rated/turns?owner=developer')).json()) as {
    turns: { turnId: string }[]
  }
  const path = `${project.inspector.api}/sessions/rated/runs/${turns[0]?.turnId}/feedback`
  const body = JSON.stringify({ score: 'down', comment: '<b>Wrong</b> name.', tags: ['tone'] })
  const headers = { authorization: `Bearer ${project.inspector.token}`, 'content-type': 'application/json' }
  expect((await fetch(path, { method: 'PUT', headers, body })).status).toBe(200)
  await page.getByRole('button', { name: /^rated/ }).click()
  await openView(page, 'Usage')
  await page.getByRole('row', { name: /^Turn 1 .* down$/ }).waitFor()
  await page.getByRole('list', { name: 'Feedback' }).getByText('<b>Wrong</b> name.').waitFor()
  await page.getByText('Turn 1 down by developer').waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('navigation', { name: 'Parts' }).getByText('Inspect').click()
  const { x = 0, width = 0 } = (await page.getByRole('table').boundingBox()) ?? {}
  expect(x + width).toBeLessThanOrEqual(390)
  expect(faults).toEqual([])
})
