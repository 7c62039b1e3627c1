import { expect, test } from 'vitest'
import { openPage, say, violations } from './pages.ts'

test('an input is answered as a stream, and the page has no accessibility violations', async () => {
  const { page, faults } = await openPage()
  await say(page, 'Hello there.')
  await page.getByText('You wrote: Hello there.').first().waitFor()
  expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('')
  expect(await violations(page)).toEqual([])
  expect(faults).toEqual([])
})

test('several components under StrictMode read the session once', async () => {
  const { page, requests } = await openPage()
  await page.getByText('Ready').waitFor()
  expect(requests.filter((path) => path.endsWith('/messages')).length).toBe(1)
})

test('a refund is approved by keyboard, and the focus moves to the composer', async () => {
  const { page, faults } = await openPage()
  await say(page, 'A refund, please.')
  await page.getByRole('group', { name: 'Allow refund?' }).waitFor()
  await page.getByText('Waiting for your decision: a refund of $49.00 for order 7').waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Approve' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA')
  await page.getByText('I have noted the outcome of the refund.').first().waitFor()
  expect(await page.locator('[data-state="done"]').count()).toBe(1)
  expect(faults).toEqual([])
})

test('a pending approval is in view below a long answer', async () => {
  const { page } = await openPage()
  await say(page, 'A long answer, please.')
  await page.getByText('That is all.').first().waitFor()
  await say(page, 'A refund, please.')
  const approve = page.getByRole('button', { name: 'Approve' })
  await approve.waitFor()
  await expect.poll(async () => ((await approve.boundingBox())?.y ?? Number.POSITIVE_INFINITY) < 700).toBe(true)
})

test('a denial reaches the model with its reason', async () => {
  const { page } = await openPage()
  await say(page, 'A refund, please.')
  await page.getByLabel('Reason (optional)').fill('Too late.')
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.getByText('I have noted the outcome').first().waitFor()
  expect(await page.locator('.allium-tool-call').getAttribute('data-state')).toBe('denied')
})

test('a message to the active run is shown within the answer', async () => {
  const { page, faults } = await openPage()
  await say(page, 'A long answer, please.')
  await page.getByText('An onion has many layers').first().waitFor()
  await page.getByLabel('Message', { exact: true }).fill('And in short?')
  await page.keyboard.press('Control+Enter')
  await page.locator('.allium-message .allium-steer').getByText('And in short?').waitFor()
  await page.getByText('You wrote: And in short?').first().waitFor()
  expect(faults).toEqual([])
})

test('an input typed during an answer waits, and can be edited again', async () => {
  const { page } = await openPage()
  await say(page, 'A long answer, please.')
  await page.getByText('An onion has many layers').first().waitFor()
  await say(page, 'Then this.')
  await page.getByRole('button', { name: 'Remove: Then this.' }).click()
  expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('Then this.')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('(Stopped').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('You wrote: Then this.').first().waitFor()
})

test('a page that is reloaded in mid-answer continues it, and keeps the draft', async () => {
  const { page, faults } = await openPage()
  await say(page, 'A long answer, please.')
  await page.getByText('An onion has many layers').first().waitFor()
  await page.getByLabel('Message', { exact: true }).fill('not sent yet')
  await page.reload()
  await page.getByText('That is all.').first().waitFor()
  expect(await page.locator('[data-role="user"]').count()).toBe(1)
  expect(await page.locator('[data-role="assistant"]').count()).toBe(1)
  expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('not sent yet')
  expect(faults).toEqual([])
})

test('an answer is complete although its connection is cut', async () => {
  const { page, connection } = await openPage()
  await say(page, 'A long answer, please.')
  await page.getByText('An onion has many layers').first().waitFor()
  connection.cut()
  await page.getByText('That is all.').first().waitFor()
  const text = await page.locator('[data-role="assistant"] .allium-text').textContent()
  expect(text?.match(/An onion has many layers/g)?.length).toBe(12)
})

test('text that was sent without a connection is stored, and sent once', async () => {
  const { page, connection } = await openPage()
  await say(page, 'Hello.')
  await page.getByText('or for a long answer.').first().waitFor()
  await page.getByText('Ready').waitFor()
  connection.close()
  await say(page, 'Still there?')
  await page.getByRole('alert').getByText('Your text is kept').waitFor()
  expect(await page.locator('[data-status="unsent"]').textContent()).toContain('Still there?')
  expect(await violations(page)).toEqual([])
  connection.open()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('You wrote: Still there?').first().waitFor()
  expect(await page.locator('[data-role="user"]').count()).toBe(2)
})

test('an unsent message can be edited', async () => {
  const { page, connection } = await openPage()
  await page.getByText('Ready').waitFor()
  connection.close()
  await say(page, 'Helo')
  await page.getByRole('button', { name: 'Edit' }).click()
  expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('Helo')
  connection.open()
  await say(page, 'Hello')
  await page.getByText('You wrote: Hello').first().waitFor()
  expect(await page.locator('[data-role="user"]').count()).toBe(1)
})

test('screen readers receive whole sentences', async () => {
  const { page } = await openPage()
  await page.evaluate(() => {
    const region = document.querySelector('.allium-announcer [role="log"]') as Element
    const announced: string[] = []
    Object.assign(globalThis, { announced })
    new MutationObserver((records) => {
      for (const { addedNodes } of records) for (const node of addedNodes) announced.push(node.textContent ?? '')
    }).observe(region, { childList: true })
  })
  await say(page, 'A long answer, please.')
  await expect.poll(() => page.evaluate('globalThis.announced.at(-1)')).toBe('That is all.')
  const announced = (await page.evaluate('globalThis.announced')) as string[]
  expect(announced[0]).toBe('An onion has many layers, and each of them has a story.')
  expect(announced.length).toBe(13)
})
