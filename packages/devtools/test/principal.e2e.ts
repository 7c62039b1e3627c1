import { expect, test } from 'vitest'
import { ask, openPage, startProject } from './project.ts'

/** An agent that rejects the default principal, and that takes a moment to load. */
const source = `
import { Agent } from 'allium'
import { scriptedModel } from 'allium/testing'
import { z } from 'zod'

await new Promise((done) => setTimeout(done, 1000))
export const principal = { tenantId: 'acme', userId: 'ann', email: 'ann@acme.test' }
export default new Agent({
  name: 'support',
  model: scriptedModel(['Hello, Ann.', 'Hello again.']),
  principal: z.object({ tenantId: z.string(), userId: z.string(), email: z.string() }),
})
`

test('the page uses the whole principal of the module from its first request on, also during a reload', async () => {
  const project = await startProject(source)
  const { page, faults } = await openPage(project.inspector)
  await ask(page, 'Hi')
  await page.getByText('Hello, Ann.').waitFor()
  const reloaded = project.inspector.reload()
  await page.getByRole('status').filter({ hasText: 'loading' }).waitFor()
  await page.getByRole('button', { name: 'as {"tenantId":"acme"' }).waitFor()
  await reloaded
  await page.getByRole('status').filter({ hasText: 'support' }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: /completed/ }).click()
  await page.getByText('Hello, Ann.').waitFor()
  expect([await page.getByRole('alert').count(), faults]).toEqual([0, []])
})
