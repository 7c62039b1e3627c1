import { join } from 'node:path'
import { type SqliteOptions, sqlite } from '@allium/store-sqlite'
import { Agent } from 'allium'
import { scriptedModel } from 'allium/testing'
import { expect, test } from 'vitest'
import { violations } from './axe.ts'
import { ask, openPage, openView, startProject } from './project.ts'

const image = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'base64').toString('base64')
const agentSource = (options = '{}', exported = '') => `
  import { join } from 'node:path'
  import { sqlite } from '@allium/store-sqlite'
  import { Agent } from 'allium'
  import * as memory from 'allium/memory'
  import { scriptedModel } from 'allium/testing'
  const mirror = (bytes) => bytes.map((byte) => byte ^ 0xff)
  export const store = sqlite(join(process.cwd(), 'production.db'), ${options})
  export const principal = { tenantId: 'acme', userId: 'dev' }
  ${exported}
  export default new Agent({ name: 'support', store, model: scriptedModel(Array(9).fill('From the copy.')) })
    .use(memory.recall({ every: 'turn' }))
`
const mirror = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0xff)

/** Stores a session of ann of acme, and one of eve of other, as another process does. */
async function fill(cwd: string, options?: SqliteOptions) {
  const store = sqlite(join(cwd, 'production.db'), options)
  const agent = new Agent({
    name: 'support',
    store,
    model: scriptedModel(['First answer.', 'Second answer.', 'Hi Eve.']),
  })
  const session = agent.session({ id: 'order-7', principal: { tenantId: 'acme', userId: 'ann' } })
  await session.run([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'first question' },
        { type: 'image', data: image, mediaType: 'image/gif' },
      ],
    },
  ])
  await session.run('second question')
  await agent.session({ id: 'secret', principal: { tenantId: 'other', userId: 'eve' } }).run('Hi')
  return store
}

test('shows sessions of the store of the agent read-only, with an audit record, continues in a copy, and shows what that recalls', async () => {
  const project = await startProject(agentSource())
  const store = await fill(project.cwd)
  const { page, faults } = await openPage(project.inspector)
  await page.reload()
  await page.getByRole('button', { name: /order-7/ }).click()
  await page.getByText('Second answer.').waitFor()
  await page
    .getByRole('log')
    .getByRole('img', { name: /^Image/ })
    .waitFor()
  expect(await page.getByLabel('Message', { exact: true }).count()).toBe(0)
  expect(await page.getByText('secret').count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Edit and run again' }).last().click()
  await page.getByLabel('Edited message').fill('another question')
  await page.getByRole('button', { name: 'Run in a fork' }).click()
  await page.getByText('From the copy.').waitFor()
  await page.getByText('First answer.').waitFor()
  expect(await page.getByText('Second answer.').count()).toBe(0)
  await ask(page, 'and more')
  await expect.poll(() => page.getByText('From the copy.').count()).toBe(2)
  const { items } = await store.sessions.list({ tenant: 'acme', limit: 10 })
  expect(items.map(({ key, version }) => [key.sessionId, version])).toEqual([['order-7', 2]])
  const looks: string[] = []
  for await (const line of store.audit.chainOf('acme').lines()) looks.push(JSON.parse(line).type)
  expect(looks).toEqual(['inspect:turns', 'inspect:file', 'inspect:copy'])
  store.close()
  await (await project.send('/sessions/monday/runs', { input: 'My alpaca is called Pia.' })).text()
  await ask(page, 'which alpaca?')
  await openView(page, 'Recall')
  await page.getByText('looked for: alpaca').waitFor()
  await page
    .getByRole('listitem')
    .filter({ hasText: 'has alpaca' })
    .getByRole('button', { name: 'Open monday' })
    .click()
  await page.locator('.found').getByText('My alpaca is called Pia.').waitFor()
  expect(faults).toEqual([])
})

test('shows content as sealed without the key, and offers no copy in clear text with it', async () => {
  const project = await startProject(agentSource())
  const store = await fill(project.cwd, { encrypt: { seal: mirror, open: mirror } })
  store.close()
  const { page } = await openPage(project.inspector)
  await page.reload()
  await page.getByRole('button', { name: /order-7/ }).click()
  await page.getByText('The content of this session cannot be opened').waitFor()
  project.write('agent.ts', agentSource('{ encrypt: { seal: mirror, open: mirror } }'))
  await page.getByRole('button', { name: /order-7/ }).click()
  await page.getByRole('button', { name: 'New session' }).click()
  await expect
    .poll(
      async () => {
        await page.getByRole('button', { name: 'New session' }).click()
        await page.getByRole('button', { name: /order-7/ }).click()
        return page.getByText('Second answer.').count()
      },
      { interval: 1000 },
    )
    .toBe(1)
  await page.getByText('export encrypt from').waitFor()
  expect(await page.getByRole('button', { name: /^Fork|^Edit/ }).count()).toBe(0)
})
