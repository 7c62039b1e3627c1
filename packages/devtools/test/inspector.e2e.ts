import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ask, openPage, openView, type Project, sharedProject, startProject } from './project.ts'

const shared = sharedProject()

test('a run that a program starts appears live, with its session and its layers', async () => {
  const project = shared()
  const { page, faults } = await openPage(project.inspector)
  const response = await project.send(
    '/sessions/from-curl/runs',
    { input: 'Hello' },
    { tenantId: 'globex', userId: 'hank' },
  )
  expect(response.status).toBe(200)
  await page.getByRole('button', { name: /from-curl/ }).click()
  await page.getByText('You asked: Hello (question 1)').waitFor()
  await page.getByRole('treeitem', { name: /desk.*changed messages/ }).click()
  await page.getByText('Be brief.').waitFor()
  await page
    .getByRole('treeitem', { name: /model openai/ })
    .last()
    .click()
  await page.getByText('You support customers.').waitFor()
  expect(faults).toEqual([])
})

test('a call waits for approval over a reload of the page and of the agent, and runs once', async () => {
  const project = await startProject()
  const { page, faults } = await openPage(project.inspector)
  await ask(page, 'please refund it')
  await page.getByRole('button', { name: 'Approve' }).waitFor()
  await project.inspector.reload()
  await page.reload()
  await page.getByRole('button', { name: /suspended/ }).click()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('The tool said so.').waitFor()
  expect(await page.getByText('The tool said so.').count()).toBe(1)
  expect(faults).toEqual([])
})

test('a denial reaches the model with its reason', async () => {
  const project = shared()
  const { page } = await openPage(project.inspector)
  await ask(page, 'please refund it')
  await page.getByLabel('Reason for a denial').fill('Too late')
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.getByText('The tool said so.').waitFor()
  await page.locator('summary', { hasText: 'refund' }).last().click()
  await page
    .getByText(/Too late/)
    .first()
    .waitFor()
})

test('a reload of the page in mid-answer keeps the session, and its answer goes on', async () => {
  const project = await startProject()
  const { page, faults } = await openPage(project.inspector)
  await ask(page, 'wait for it')
  await page.locator('.card.tool', { hasText: 'running' }).waitFor()
  await page.reload()
  await page.locator('.card.tool', { hasText: 'running' }).waitFor()
  project.write('go', '')
  await page.getByText('The tool said go.').waitFor()
  expect(faults).toEqual([])
})

test('a tool that throws shows its error, which the model does not receive', async () => {
  const project = shared()
  const { page } = await openPage(project.inspector)
  await ask(page, 'break it')
  await page.getByText('The tool said so.').waitFor()
  const card = page.locator('.card.tool', { hasText: 'broken' })
  await card.click()
  await card.getByText('Error: The clock is broken.').waitFor()
  await page.getByRole('treeitem', { name: /broken.*error/ }).waitFor()
  expect(await card.getByText('The tool "broken" failed.').count()).toBe(1)
})

test('a message steers the running turn', async () => {
  const project = await startProject()
  const { page } = await openPage(project.inspector)
  await ask(page, 'wait for it')
  await page.getByRole('button', { name: 'Steer' }).waitFor()
  await Promise.all([page.waitForResponse(/\/steer$/), ask(page, 'and hurry')])
  project.write('go', '')
  await page.getByText('sent during the turn: delivered').waitFor()
  await page.getByText(/You asked: and hurry/).waitFor()
})

test('Stop ends the running turn', async () => {
  const project = shared()
  const { page } = await openPage(project.inspector)
  await ask(page, 'wait for it')
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.locator('.turn-footer', { hasText: 'aborted' }).waitFor()
})

test('Edit and run again continues in a fork, and leaves the session as it was', async () => {
  const project = shared()
  const before = await sessionsOf(project)
  const { page } = await openPage(project.inspector)
  await ask(page, 'first')
  await page.getByText('You asked: first (question 1)').waitFor()
  await ask(page, 'second')
  await page.getByText('You asked: second (question 2)').waitFor()
  await page.getByRole('button', { name: 'Edit and run again' }).last().click()
  await page.getByLabel('Edited message').fill('another')
  await page.getByRole('button', { name: 'Run in a fork' }).click()
  await page.getByText('You asked: another (question 2)').waitFor()
  await page.getByText('You asked: first (question 1)').waitFor()
  expect(await page.getByText('You asked: second').count()).toBe(0)
  expect(await sessionsOf(project)).toBe(before + 2)
})

test('Fork starts a session with the turns so far', async () => {
  const project = await startProject()
  const { page } = await openPage(project.inspector)
  await ask(page, 'first')
  await page.getByRole('button', { name: 'Fork', exact: true }).click()
  await expect.poll(() => page.locator('.session-item').count()).toBe(2)
  await ask(page, 'second')
  await page.getByText('You asked: second (question 2)').waitFor()
})

test('a change of a file reloads the agent: the running turn ends as interrupted, and the session continues', async () => {
  const project = await startProject()
  const { page } = await openPage(project.inspector)
  await ask(page, 'wait for it')
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  const source = readFileSync(join(project.cwd, 'agent.ts'), 'utf8')
  project.write('agent.ts', source.replace('You asked:', 'After the change:'))
  await page.locator('.turn-footer', { hasText: 'interrupted' }).waitFor()
  await ask(page, 'still there?')
  await page.getByText('After the change: still there? (question 2)').waitFor()
})

test('a syntax error is shown, and the last good agent keeps running until the error is fixed', async () => {
  const project = await startProject()
  const { page } = await openPage(project.inspector)
  const source = readFileSync(join(project.cwd, 'agent.ts'), 'utf8')
  project.write('agent.ts', `${source}\nconst = 1`)
  await page.getByText('The last good version keeps running').waitFor()
  expect(await page.getByRole('alert').textContent()).toMatch(/agent\.ts/)
  await ask(page, 'Hello')
  await page.getByText('You asked: Hello').waitFor()
  project.write('agent.ts', source)
  await page.getByText('The last good version keeps running').waitFor({ state: 'detached' })
})

test('hostile text never becomes markup, in any view', async () => {
  const project = shared()
  const { page, faults } = await openPage(project.inspector)
  await project.send('/sessions/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E/runs', { input: 'hostile <b>input</b>' })
  await page.getByRole('button', { name: /<img src=x/ }).click()
  await page.getByText('window.hacked').first().waitFor()
  for (const view of ['State', 'Events', 'Usage', 'Logs', 'Agent', 'Onion']) await openView(page, view)
  await page
    .getByRole('treeitem', { name: /model openai/ })
    .first()
    .click()
  await page.getByText('<b>input</b>').last().waitFor()
  expect(await page.evaluate('window.hacked')).toBeUndefined()
  expect(await page.locator('img, main script, main b').count()).toBe(0)
  expect(faults).toEqual([])
})

test('a request shows the system prompt and the tools as they were sent, also after many messages', async () => {
  const project = shared()
  const { page } = await openPage(project.inspector)
  await ask(page, 'look up many things')
  await page.getByText('All done.').waitFor()
  await page.getByRole('tree').focus()
  await page.keyboard.press('End')
  const details = page.getByRole('region', { name: 'Details of openai/gpt-5-mini' })
  await details.getByText('You support customers.').waitFor()
  await details.getByText('Be brief.').waitFor()
  const tool = details.locator('details', { hasText: 'Looks up an order.' })
  await tool.locator('summary').click()
  await tool.getByText('jsonSchema').waitFor()
})

test('the state view shows each write with the value before it and the reducer of the key', async () => {
  const project = shared()
  const { page } = await openPage(project.inspector)
  for (const text of ['first', 'second']) {
    await ask(page, text)
    await page.getByText(`You asked: ${text}`).waitFor()
  }
  await openView(page, 'State')
  await page.getByRole('listitem').filter({ hasText: 'desk:questions' }).last().click()
  const values = page.getByRole('region', { name: 'Values after this write' })
  await values
    .getByText(/\(count, ?more\) ?=> ?count ?\+ ?more/)
    .first()
    .waitFor()
  expect(await values.locator('.removed, .added').allTextContents()).toEqual(['1', '2'])
})

test('the agent view shows the options of each layer, and where it was added', async () => {
  const project = shared()
  const { page } = await openPage(project.inspector)
  await openView(page, 'Agent')
  const layer = page.getByRole('listitem').filter({ hasText: 'desk' }).first()
  await layer.getByText('Options: tone "brief"').waitFor()
  await layer.getByText(/^agent\.ts:\d+$/).waitFor()
})

test('credentials in logs, messages and requests are hidden', async () => {
  const project = shared()
  const { page } = await openPage(project.inspector)
  await openView(page, 'Logs')
  await page.getByText('The agent was loaded with the key [hidden]').waitFor()
  await ask(page, `my key is sk-ant-api03-8fKq2LmZx0VtR7nWcY4hJd1sGbP9eUaQ`)
  await page.getByText('You asked: my key is [hidden]').waitFor()
  for (const view of ['Events', 'State', 'Onion']) await openView(page, view)
  await page
    .getByRole('treeitem', { name: /model openai/ })
    .last()
    .click()
  await page.getByText('You support customers.').waitFor()
  expect(await page.content()).not.toContain('sk-ant-api03')
})

test('an agent with a schema for principals takes the one that its module exports', async () => {
  const project = await startProject(`
    import { Agent } from 'allium'
    import { scriptedModel } from 'allium/testing'
    import { z } from 'zod'
    const principal = z.object({ tenantId: z.string(), userId: z.string() })
    export default new Agent({ name: 'support', model: scriptedModel(['Hello Jane.', 'Hello Jane.']), principal })
  `)
  const { page } = await openPage(project.inspector)
  await page.getByText('The agent rejects this principal').waitFor()
  const source = readFileSync(join(project.cwd, 'agent.ts'), 'utf8')
  project.write(
    'agent.ts',
    `${source.replace('const principal', 'const schema').replace(', principal }', ', principal: schema }')}
    export const principal = { tenantId: 'acme', userId: 'jane' }`,
  )
  await page.getByRole('button', { name: /^as .*jane/ }).waitFor()
  await page.getByText('The agent rejects this principal').waitFor({ state: 'detached' })
  await ask(page, 'Hi')
  await page.getByText('Hello Jane.').waitFor()
})

test('a principal and a context are typed in, checked, used and kept as a preset', async () => {
  const project = shared()
  const { page } = await openPage(project.inspector)
  await page.getByRole('button', { name: /^as / }).click()
  await page.getByLabel('Principal').fill('{ "tenantId": "acme"')
  await page.getByRole('button', { name: 'Use', exact: true }).click()
  await page.getByText('The principal is not JSON').waitFor()
  await page.getByLabel('Principal').fill('{ "tenantId": "acme", "userId": "jane" }')
  await page.getByLabel('Context').fill('{ "plan": "gold" }')
  await page.getByLabel('Name of the preset').fill('Jane')
  await page.getByRole('button', { name: 'Keep' }).click()
  await page.getByRole('button', { name: 'Use', exact: true }).click()
  await ask(page, 'who am I?')
  await page.getByText('jane of acme').waitFor()
  await page.locator('summary', { hasText: 'who_am_i' }).click()
  await page.getByText('{"principal":{"tenantId":"acme","userId":"jane"},"context":{"plan":"gold"}}').waitFor()
  await page.getByRole('button', { name: /^as / }).click()
  await page.getByRole('button', { name: 'Jane', exact: true }).waitFor()
})

async function sessionsOf({ send }: Project): Promise<number> {
  const { sessions } = (await (await send('/sessions')).json()) as { sessions: unknown[] }
  return sessions.length
}
