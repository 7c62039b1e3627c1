import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { demoKeys } from '../src/demo-keys.ts'
import { say, startPages } from './browser.ts'

const [{ key: dana }] = demoKeys
const order = 'Where is order A-1042?'
const pages = startPages()

const box = (page: Page) => page.getByLabel('Message').inputValue()
/** Who says what, from above to below. */
const shown = async (page: Page) =>
  Promise.all((await page.locator('.message').all()).map((message) => message.getAttribute('aria-label')))

describe('a message that could not be sent', () => {
  test('stays in the message box, and Retry sends it once', async () => {
    const { page } = await pages.open(dana)
    await page.getByLabel('Message').waitFor()
    await page.context().setOffline(true)
    await say(page, order)
    await page.getByText('was not sent').waitFor()
    expect([await box(page), await page.locator('.message').count()]).toEqual([order, 0])
    await page.getByRole('button', { name: 'Retry' }).click()
    // Only then has the second attempt failed, too.
    await page.getByRole('button', { name: 'Dismiss' }).waitFor()
    await page.getByText('was not sent').waitFor()
    expect(await box(page)).toBe(order)
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Retry' }).dblclick()
    await page.getByText('Let me know if something').waitFor()
    expect([await box(page), await shown(page)]).toEqual(['', ['You', 'Support']])
    await page.reload()
    await page.getByText('Let me know if something').waitFor()
    expect([await box(page), await shown(page)]).toEqual(['', ['You', 'Support']])
  })

  test('keeps text that was typed later, and survives a reload', async () => {
    const { page } = await pages.open(dana)
    await page.route('**/api/chat', (route) => route.abort())
    await say(page, order)
    await page.getByText('was not sent').waitFor()
    await page.getByLabel('Message').press('End')
    await page.keyboard.type(' It is urgent.')
    await page.reload()
    await page.getByText('was not sent').waitFor()
    expect(await box(page)).toBe(`${order} It is urgent.`)
  })

  test('is not sent again when it had arrived and only its answer was lost', async () => {
    const { page } = await pages.open(dana)
    await page.route('**/api/chat', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await say(page, order)
    await page.getByText('Let me know if something').waitFor()
    expect([await box(page), await shown(page)]).toEqual(['', ['You', 'Support']])
    expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0)
  })

  test('stays in the box when the server refuses it, with a sentence that says what to do', async () => {
    const { page } = await pages.open(dana)
    const problem = { status: 503, json: { code: 'server.draining', message: 'Draining: SIGTERM' } }
    await page.route('**/api/chat', (route) => route.fulfill(problem))
    await say(page, order)
    await page.getByText('The service is restarting. Try again in a moment.').waitFor()
    await expect.poll(() => box(page)).toBe(order)
    await page.unroute('**/api/chat')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('Let me know if something').waitFor()
    expect(await shown(page)).toEqual(['You', 'Support'])
  })
})

describe('a draft', () => {
  test('stays with its conversation, and goes with the sign-out', async () => {
    const { page } = await pages.open(dana)
    await page.getByLabel('Message').fill('Half a sentence')
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByLabel('Message').waitFor()
    expect(await box(page)).toBe('')
    await page.goBack()
    await expect.poll(() => box(page)).toBe('Half a sentence')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
  })
})

describe('a message that is sent while an answer is being written', () => {
  test('is shown at once, then where the answer read it, and is there after a reload', async () => {
    const { page, faults } = await pages.open(dana)
    await say(page, 'Explain the returns policy.')
    await page.getByText('What you can return').waitFor()
    await say(page, order)
    expect([await box(page), await shown(page)]).toEqual(['', ['You', 'Support', 'You']])
    await page.reload()
    await page.locator('.message.user', { hasText: order }).waitFor()
    await page.getByText('Let me know if something').waitFor()
    await expect.poll(() => shown(page)).toEqual(['You', 'Support', 'You', 'Support'])
    await expect.poll(() => page.getByText('Would you like to return').count()).toBe(1)
    await page.reload()
    await page.getByText('Let me know if something').waitFor()
    await expect.poll(() => shown(page)).toEqual(['You', 'Support', 'You', 'Support'])
    expect([await page.getByText('What you can return').count(), faults]).toEqual([1, []])
  })

  test('returns to the message box when the answer could not read it', async () => {
    const { page } = await pages.open(dana)
    await say(page, 'Explain the returns policy.')
    await page.getByText('What you can return').waitFor()
    await page.route('**/steer', (route) =>
      route.fulfill({ status: 409, json: { code: 'run.not_running', message: '' } }),
    )
    await say(page, order)
    await page.getByText('was not read').waitFor()
    expect([await box(page), await shown(page)]).toEqual([order, ['You', 'Support']])
  })
})

describe('an answer', () => {
  test('shows either a caret after its text or a line about the activity, never both', async () => {
    const { page } = await pages.open(dana)
    await page.evaluate(countIndicators)
    await say(page, 'Explain the returns policy.')
    await page.getByText('What you can return').waitFor()
    await say(page, order)
    await page.getByText('Let me know if something').waitFor()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    expect(await page.evaluate('[...indicators].sort()')).toEqual(['', '.caret', '.typing'])
    expect(await page.locator('.message.user .caret').count()).toBe(0)
  })

  test('that failed is explained in a sentence, with a button to ask again', async () => {
    const { page } = await pages.open(dana)
    await say(page, 'Pretend that the model is down.')
    await page.getByRole('alert').getByText('The model could not answer. Try again.').waitFor()
    expect([await box(page), await shown(page)]).toEqual(['', ['You']])
    await page.getByRole('button', { name: 'Ask again' }).click()
    await expect.poll(() => shown(page)).toEqual(['You', 'You'])
    await page.getByRole('alert').waitFor()
    expect(await page.locator('body').textContent()).not.toMatch(/AI_|APICallError|Internal error|[a-z]+\.failed/)
    await page.reload()
    await page.getByText('This message was not answered.').waitFor()
  })
})

/** Collects which of them have been in the page at the same time. */
const countIndicators = `
  globalThis.indicators = new Set()
  new MutationObserver(() => {
    indicators.add(['.caret', '.typing'].filter((one) => document.querySelector(one) !== null).join(' '))
  }).observe(document.body, { childList: true, subtree: true })
`
