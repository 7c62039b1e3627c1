import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseCases } from '@allium/evals'
import { expect, test } from 'vitest'
import { violations } from './axe.ts'
import { evalReport } from './eval-report.ts'
import { ask, openPage, openView, startProject } from './project.ts'

test('a report appears when it is written, with its gates, and a case opens beside the baseline', async () => {
  const [project, baseline] = await Promise.all([startProject(), evalReport()])
  const { page, faults } = await openPage(project.inspector, { colorScheme: 'dark' })
  await openView(page, 'Evals')
  await page.getByText('npx allium eval').waitFor()
  project.write('evals/answers.baseline.json', JSON.stringify(baseline))
  project.write('.allium/evals/answers.json', JSON.stringify(await evalReport(['refund'], baseline)))
  const gate = page.getByRole('list', { name: 'Gates' }).getByRole('listitem')
  await gate.filter({ hasText: /undecidedequals|undecided equals drop < 10 points/ }).waitFor()
  await page.getByLabel('Cases').selectOption('failing')
  await expect.poll(() => page.getByRole('row').count()).toBe(2)
  await page.getByRole('button', { name: 'refund' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'This report' }).getByText('<b>I do not know.</b>').waitFor()
  await page.getByRole('region', { name: 'Baseline' }).getByText('You get the money back.').waitFor()
  expect(await violations(page)).toEqual([])
  project.write('.allium/evals/answers.json', JSON.stringify(await evalReport([], baseline)))
  await page.getByText('No case of this report matches.').waitFor()
  expect(faults).toEqual([])
})

test('a turn is saved as a case once, with the texts before it and an expected answer', async () => {
  const project = await startProject()
  const { page, faults } = await openPage(project.inspector, { viewport: { width: 390, height: 844 } })
  await ask(page, 'Hello')
  await page.locator('.turn-footer', { hasText: 'completed' }).waitFor()
  await ask(page, 'And now?')
  await page.getByText('You asked: And now? (question 2)').waitFor()
  const open = page.getByRole('button', { name: 'Save as eval case' }).last()
  await open.click()
  await page.getByLabel('Expected answer').fill('Nothing.')
  await page.getByLabel('Tags').fill('small talk')
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText(/^Saved as "turn-/).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await open.click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect
    .poll(() => page.getByRole('dialog').textContent())
    .toMatch(/already has this input .* Nothing was written/)
  const cases = parseCases(readFileSync(join(project.cwd, 'evals/saved.cases.jsonl'), 'utf8'))
  expect(cases).toMatchObject([{ expected: 'Nothing.', tags: ['small talk'], principal: { userId: 'developer' } }])
  expect(cases[0]?.input).toHaveLength(3)
  expect(faults).toEqual([])
})
