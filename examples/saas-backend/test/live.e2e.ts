import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { demoKeys } from '../src/demo-keys.ts'
import { say, sessionRows, startPages } from './browser.ts'

const [dana, alex] = demoKeys.map(({ key }) => key) as [string, string]
const order = 'Where is order A-1042?'
const pages = startPages()

/** Notes each length of the conversation while it can be stopped. The page asks less and less often while nothing changes, and could come too late to see the answer grow. */
const watchAnswer = `
  setInterval(() => dispatchEvent(new Event('online')), 50)
  window.lengths = new Set()
  new MutationObserver(() => {
    const isRunning = [...document.querySelectorAll('button')].some((button) => button.innerText === 'Stop')
    if (isRunning) lengths.add(document.body.innerText.length)
  }).observe(document.body, { subtree: true, childList: true, characterData: true })
`

async function admin() {
  const opened = await pages.open(alex)
  await opened.page.goto(`${pages.url()}/admin`)
  await opened.page.getByRole('heading', { name: 'Audit' }).waitFor()
  return opened
}

describe('the list of conversations', () => {
  test('names each by its first words, with the time', async () => {
    const { page } = await pages.open(dana)
    const long = `${order} I have been waiting for it since the first week of February, and nobody calls me back.`
    await say(page, long)
    await page.getByText('Let me know if something').waitFor()
    const open = page.locator('.chats a[aria-current="page"]')
    await open.getByText('Where is order A-1042? I have been waiting for it since the…').waitFor()
    expect(await open.locator('time').getAttribute('datetime')).toMatch(/^\d{4}-\d\d-\d\dT/)
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByText('Hello Dana').waitFor()
    await page.locator('.chats a', { hasText: 'I have been waiting' }).click()
    await page.getByText('Let me know if something').waitFor()
  })

  test('shows earlier conversations after a click', async () => {
    const { page } = await pages.open(dana)
    const sessions = Array.from({ length: 50 }, (_, at) => ({
      id: `s-${at}`,
      version: 1,
      status: 'completed',
      updatedAt: 0,
    }))
    await page.route('**/api/sessions?*', (route) => {
      const limit = Number(new URL(route.request().url()).searchParams.get('limit'))
      return route.fulfill({ json: { sessions: sessions.slice(0, limit), ...(limit < 50 && { cursor: 'more' }) } })
    })
    await page.reload()
    await expect.poll(() => page.locator('.chats li').count()).toBe(30)
    await page.getByRole('button', { name: 'Show earlier ones' }).click()
    await expect.poll(() => page.locator('.chats li').count()).toBe(50)
    expect(await page.getByRole('button', { name: 'Show earlier ones' }).count()).toBe(0)
  })
})

describe('a conversation', () => {
  test('streams a conversation of another tab', async () => {
    const { page } = await pages.open(dana)
    await say(page, order)
    await page.getByText('Let me know if something').waitFor()
    const other = await pages.open(dana)
    await other.page.goto(page.url())
    await other.page.getByText('Let me know if something').waitFor()
    await other.page.evaluate(watchAnswer)
    await say(page, 'Explain the returns policy.')
    await other.page.getByText('Would you like to return an order?').waitFor()
    expect(await other.page.evaluate('lengths.size')).toBeGreaterThan(2)
    expect([await other.page.locator('.message').count(), other.faults]).toEqual([4, []])
  })

  test('opens the conversation of an address that is set while the page starts', async () => {
    const { page } = await pages.open(dana)
    await say(page, order)
    await page.getByText('Let me know if something').waitFor()
    const other = await pages.open(dana)
    await other.page.addInitScript(`const random = crypto.randomUUID.bind(crypto)
      crypto.randomUUID = () => (location.hash = ${JSON.stringify(new URL(page.url()).hash)}, random())`)
    await other.page.goto('about:blank')
    await other.page.goto(pages.url())
    await other.page.getByText('Let me know if something').waitFor()
  })

  test('has no approve button for a call that needs an admin, and continues after their decision', async () => {
    const { page, faults } = await pages.open(dana)
    await page.getByRole('button', { name: /A refund that an admin approves/ }).click()
    await page.getByText('An admin must approve this').waitFor()
    const buttons = page.locator('.decide button')
    expect(await buttons.allTextContents()).toEqual(['Deny'])
    await page.reload()
    await page.getByText('An admin must approve this').waitFor()
    expect(await buttons.allTextContents()).toEqual(['Deny'])

    const { page: adminPage } = await admin()
    const request = adminPage.locator('.request', { hasText: '$540' })
    await request.waitFor()
    expect(await request.locator('dd').allTextContents()).toEqual(['A-1042', '$540', 'ann@acme.example'])
    await request.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Your admin approved it').waitFor()
    expect([await buttons.count(), await page.locator('.card .badge').textContent(), faults]).toEqual([0, 'done', []])
    await request.waitFor({ state: 'detached' })
  })

  test('shows the decision of another person', async () => {
    const { page } = await pages.open(dana)
    await page.getByRole('button', { name: /Refund a dented stove/ }).click()
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await hide(page)
    const { page: adminPage } = await admin()
    const request = adminPage.locator('.request', { hasText: '$180' })
    await request.getByRole('button', { name: 'Deny' }).click()
    await request.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('nothing was refunded').waitFor()
    expect(await page.locator('.decide').count()).toBe(0)
  })
})

describe('the admin page', () => {
  test('updates without a reload, and has no button for one', async () => {
    const { page, faults } = await admin()
    const { page: chat } = await pages.open(dana)
    await chat.getByRole('button', { name: /Refund a dented stove/ }).click()
    await page.locator('.request', { hasText: '$180' }).waitFor()
    await sessionRows(page).filter({ hasText: 'suspended' }).first().click()
    await page.getByRole('heading', { name: 'Turns of dana' }).waitFor()
    const turns = page.locator('.panel', { hasText: 'Turns of dana' })
    await turns.locator('.row', { hasText: 'suspended' }).waitFor()
    await chat.getByRole('button', { name: 'Deny' }).click()
    await turns.locator('.row', { hasText: 'completed' }).waitFor()
    await page.getByText('No pending approvals').waitFor()
    expect([await page.getByRole('button', { name: /Reload/ }).count(), faults]).toEqual([0, []])
  })

  test('explains why a turn failed, and how an admin can help', async () => {
    const { page: chat } = await pages.open(dana)
    await say(chat, 'Pretend that the model is down.')
    await chat.getByRole('alert').waitFor()
    const { page } = await admin()
    await sessionRows(page).filter({ hasText: 'failed' }).first().click()
    await page.getByText('The model provider did not answer. Check its status and the API key.').waitFor()
    expect(await page.locator('body').textContent()).not.toContain('AI_APICallError')
  })

  test('shows that it is not up to date, until the server responds again', async () => {
    const { page } = await admin()
    await page.locator('.sums dd').nth(3).waitFor()
    await page.route('**/admin/api/**', (route) => route.abort())
    await page.getByText('Not up to date. The server cannot be reached.').waitFor()
    expect(await page.locator('.sums dd').count()).toBe(4)
    await page.unroute('**/admin/api/**')
    await page.locator('.live', { hasText: 'Live' }).waitFor()
  })
})

describe('a page in a hidden tab', () => {
  test('sends no requests while hidden, and one immediately when shown', async () => {
    const { page } = await pages.open(dana)
    await page.locator('.chats li, .chats .quiet').first().waitFor()
    let count = 0
    page.on('request', () => count++)
    await page.clock.install()
    await page.reload()
    await page.getByText('Hello Dana').waitFor()
    await expect.poll(() => count).toBeGreaterThan(0)
    await hide(page)
    await page.waitForLoadState('networkidle')
    count = 0
    await page.clock.runFor(120_000)
    expect(count).toBe(0)
    await show(page)
    await expect.poll(() => count).toBeGreaterThan(0)
  })
})

async function hide(page: Page): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })
    document.dispatchEvent(new Event('visibilitychange'))`)
}
async function show(page: Page): Promise<void> {
  await page.evaluate(`delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))`)
}
