import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { demoKeys } from '../src/demo-keys.ts'
import { picture, say, sessionRows, startPages } from './browser.ts'
import { faultsOfAxe, overflow, unreachable } from './looks.ts'

const [dana, alex] = demoKeys.map(({ key }) => key) as [string, string]
const refund = 'Refund the dented camp stove of A-1042, and notify ann@acme.example.'
const pages = startPages()

const faultsOf = async (page: Page) => [await overflow(page), await faultsOfAxe(page), await unreachable(page)]
const none = [0, [], []]
/** `npm run looks` takes each width in each scheme, and CI each of them once. */
const looks = [390, 1200]
  .flatMap((width) => (['light', 'dark'] as const).map((scheme) => [width, scheme] as const))
  .filter(([width, scheme]) => process.env.ALLIUM_EVERY_LOOK !== undefined || (width === 390) === (scheme === 'dark'))

describe.each(looks)('at %i px, %s', (width, colorScheme) => {
  const options = { viewport: { width, height: 800 }, colorScheme }

  test('the chat page fits, has no fault, and each control is reached by Tab and shows it', async () => {
    const { page } = await pages.open(dana, options)
    await page.getByRole('button', { name: /Refund a dented stove/ }).waitFor()
    await picture(page, `chat-empty-${width}-${colorScheme}`)
    expect(await faultsOf(page)).toEqual(none)
    await say(page, 'Where is order A-1042?')
    await page.getByText('Let me know if something').waitFor()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await say(page, 'I was charged twice for express shipping on A-1042.')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await picture(page, `chat-${width}-${colorScheme}`)
    expect(await faultsOf(page)).toEqual(none)
    if (width === 390) await page.getByRole('button', { name: 'Conversations' }).click()
    await page.getByRole('button', { name: 'What we remember of you' }).click()
    await page.locator('.found summary').first().click()
    await picture(page, `memory-${width}-${colorScheme}`)
    expect(await faultsOf(page)).toEqual(none)
  })

  test('so does the chat page while something is wrong, and while an answer is being written', async () => {
    const { page } = await pages.open(dana, options)
    await say(page, 'Explain the returns policy.')
    await page.getByText('What you can return').waitFor()
    await say(page, 'Where is order A-1042?')
    expect([await overflow(page), await faultsOfAxe(page)]).toEqual([0, []])
    await picture(page, `answering-${width}-${colorScheme}`)
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await page.context().setOffline(true)
    await say(page, 'And A-1043?')
    await page.getByText('was not sent').waitFor()
    await picture(page, `offline-${width}-${colorScheme}`)
    expect(await faultsOf(page)).toEqual(none)
  })

  test('so does the admin page', async () => {
    const { page: chat } = await pages.open(dana, options)
    await say(chat, 'Pretend that the model is down.')
    await chat.getByRole('alert').waitFor()
    const { page } = await pages.open(alex, options)
    await page.goto(`${pages.url()}/admin`)
    await page.getByText('records are intact').waitFor()
    await page.getByText('As a table').click()
    await sessionRows(page).first().click()
    await page.locator('.panel', { hasText: 'Turns of' }).locator('.row').last().click()
    await page.locator('.layers').waitFor()
    await picture(page, `admin-${width}-${colorScheme}`)
    expect(await faultsOf(page)).toEqual(none)
  })

  test('so does the sign-in', async () => {
    const { page } = await pages.open(dana, options)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    await picture(page, `sign-in-${width}-${colorScheme}`)
    expect(await faultsOf(page)).toEqual(none)
  })
})

describe('on a phone', () => {
  const phone = { viewport: { width: 390, height: 800 } }

  test('a button opens the conversations, many at a time; Escape and a choice close them', async () => {
    const { page } = await pages.open(dana, phone)
    const sessions = Array.from({ length: 30 }, (_, at) => ({
      id: `s-${at}`,
      version: 1,
      status: 'completed',
      updatedAt: at,
    }))
    await page.route('**/api/sessions?*', (route) => route.fulfill({ json: { sessions } }))
    await page.reload()
    const [menu, list] = [page.getByRole('button', { name: 'Conversations' }), page.locator('.chats')]
    await menu.focus()
    await page.keyboard.press('Enter')
    await list.locator('li').nth(29).waitFor()
    const ninth = await list.locator('li').nth(8).boundingBox()
    expect([(ninth?.y ?? 800) < 750, await faultsOf(page)]).toEqual([true, none])
    await picture(page, 'conversations-390')
    await page.keyboard.press('Escape')
    const state = async () => [await list.isVisible(), await menu.and(page.locator(':focus')).count()]
    await expect.poll(state).toEqual([false, 1])
    await page.keyboard.press('Enter')
    await list.locator('a').nth(2).click()
    await expect.poll(() => list.isVisible()).toBe(false)
    await expect.poll(() => page.url()).toContain('#s-2')
  })

  test('no cell of an admin table is cut', async () => {
    const { page } = await pages.open(alex, phone)
    await say(page, 'Where is order A-1042?')
    await page.getByText('Let me know if something').waitFor()
    await page.goto(`${pages.url()}/admin`)
    await sessionRows(page).first().click()
    await page.locator('.panel', { hasText: 'Turns of' }).locator('.row').first().click()
    await page.locator('.layers').waitFor()
    await page.getByText('As a table').click()
    const boxes = await Promise.all((await page.locator('td').all()).map((cell) => cell.boundingBox()))
    const right = boxes.map((box) => (box === null ? 0 : box.x + box.width))
    expect([right.length > 100, right.filter((at) => at > 390)]).toEqual([true, []])
    await expect.poll(() => page.locator('.layers td', { hasText: 'ms' }).first().isVisible()).toBe(true)
  })
})

test('a refund can be requested, approved and followed with the keyboard alone', async () => {
  const { page } = await pages.open(dana)
  await page.getByText('Hello Dana').waitFor()
  await page.keyboard.type(refund)
  await page.keyboard.press('Enter')
  const approve = page.getByRole('button', { name: 'Approve' })
  await approve.waitFor()
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Shift+Tab')
  await expect.poll(() => approve.and(page.locator(':focus-visible')).count()).toBe(1)
  await page.keyboard.press('Enter')
  await page.getByText('You do not need to return it.').waitFor()
  await expect.poll(() => page.getByLabel('Message').and(page.locator(':focus')).count()).toBe(1)
})
