import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import story from '../data/story.json' with { type: 'json' }
import { demoKeys } from '../src/demo-keys.ts'
import { picture, say, sessionRows, startPages } from './browser.ts'

const [dana, alex, hank, gina] = demoKeys.map(({ key }) => key) as [string, string, string, string]
const policyEnd = 'Would you like to return an order?'
const pages = startPages()
const { open } = pages

describe('the chat page', () => {
  test('signs in with a key that the page does not store, and reports an unknown key', async () => {
    const context = await pages.browser().newContext()
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.goto(pages.url())
    await page.getByLabel('API key').fill('no key')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('not known').waitFor()
    await picture(page, 'sign-in')
    await page.getByLabel('API key').fill(dana)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Hello Dana').waitFor()
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
    expect(cookie?.value).not.toContain(dana)
  })

  test('streams Markdown, and shows the arguments and the result of a tool call in a card', async () => {
    const { page, faults } = await open(dana)
    await page.getByRole('button', { name: /Find an order/ }).click()
    await page.getByText('Let me know if something').waitFor()
    expect(await page.locator('.markdown td').allTextContents()).toEqual([
      'Camp stove',
      '6',
      '$180',
      'Field kettle',
      '4',
      '$40',
    ])
    await page.getByText('Result', { exact: true }).click()
    expect(await page.locator('.card pre').textContent()).toContain('"status": "delivered"')
    expect(faults).toEqual([])
  })

  test('shows a pending call with its original values, and refunds once after the approval', async () => {
    const { page, faults } = await open(dana)
    await page.getByRole('button', { name: /Refund a dented stove/ }).click()
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    expect(await page.locator('.card dd').allTextContents()).toEqual(['A-1042', '$180', 'ann@acme.example'])
    await picture(page, 'approval')
    await page.reload()
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    expect(await page.locator('.card dd').allTextContents()).toEqual(['A-1042', '$180', 'ann@acme.example'])
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('You do not need to return it.').waitFor()
    expect(await page.locator('.card .output').textContent()).toContain(
      'Refunded $180 of order A-1042. $1060 of it remains.',
    )
    expect([await page.locator('.card').count(), faults]).toEqual([1, []])
  })

  test("shows the user's original text after a reload, though the model received placeholders", async () => {
    const { page, faults } = await open(dana)
    await page.getByRole('button', { name: /Refund a dented stove/ }).click()
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    const own = page.locator('.message.user')
    const written = await own.textContent()
    expect(written).toContain('ann@acme.example')
    await page.reload()
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    expect([await own.textContent(), faults]).toEqual([written, []])
  })

  test('continues an approved call after a reload, without a second approval', async () => {
    const { page, faults } = await open(dana)
    await page.getByRole('button', { name: /Refund a dented stove/ }).click()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('I am sorry').waitFor()
    await page.reload()
    await page.getByText('You do not need to return it.').waitFor()
    expect(await page.locator('.card .output').textContent()).toContain('Refunded $180')
    await expect.poll(() => page.getByText('I am sorry').count()).toBe(1)
    expect([await page.getByRole('button', { name: 'Approve' }).count(), faults]).toEqual([0, []])
  })

  test('refunds nothing after a denial', async () => {
    const { page, faults } = await open(dana)
    await page.getByRole('button', { name: /Refund a dented stove/ }).click()
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByText('nothing was refunded').waitFor()
    expect([await page.locator('.card .badge').textContent(), faults]).toEqual(['denied', []])
  })

  test('shows which agent answers, and where it was handed off, after a reload and in another tab, too', async () => {
    const { page, faults } = await open(dana)
    await page.getByRole('button', { name: /Another agent takes over/ }).click()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('It takes two to five days.').waitFor()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await say(page, 'Where is order A-1042?')
    await page.getByText('Let me know if something').waitFor()
    const other = await open(dana)
    await other.page.goto(page.url())
    await other.page.getByText('Let me know if something').waitFor()
    const shown = async (of: Page) => [
      await of.locator('.author, .handoff').allTextContents(),
      await of.locator('.answering').textContent(),
    ]
    const all = ['Handed off to Billing', 'Billing', 'Handed off to Support', 'Support']
    expect(await shown(page)).toEqual([all, 'You are talking to Support'])
    expect(await shown(other.page)).toEqual([all, 'You are talking to Support'])
    await page.reload()
    await page.getByText('Let me know if something').waitFor()
    expect([await shown(page), faults]).toEqual([[all, 'You are talking to Support'], []])
    await picture(page, 'handoff')
  })

  test('shows users what is remembered of them, and lets them correct it, switch it off and delete it', async () => {
    const { page, faults } = await open(gina)
    await say(page, 'Please remember that I take deliveries only before noon.')
    await page.getByText('I will remember').waitFor()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await page.getByRole('button', { name: 'What we remember of you' }).click()
    const [dialog, wish] = [page.getByRole('dialog'), page.getByLabel('Wishes for deliveries')]
    await expect.poll(() => wish.inputValue()).toBe('Before noon only')
    await dialog.getByText('(2)', { exact: true }).waitFor()
    await wish.fill('After noon')
    await page.keyboard.press('Enter')
    await dialog.getByText('Saved.').waitFor()
    await page.getByLabel('Remember me').click()
    await dialog.getByText('Memory is off.').waitFor()
    expect([await wish.inputValue(), await wish.isDisabled()]).toEqual(['After noon', true])
    await dialog.getByRole('button', { name: 'Delete everything' }).click()
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialog.getByText('Everything was deleted.').waitFor()
    expect(await wish.inputValue()).toBe('')
    await page.keyboard.press('Escape')
    await page.getByText('Hello Gina').waitFor()
    await say(page, 'Please remember that I take deliveries only before noon.')
    await page.getByText('Your memory is off').waitFor()
    expect(faults).toEqual([])
  })

  test('stops an answer, and keeps the text so far', async () => {
    const { page } = await open(dana)
    await say(page, 'Explain the returns policy.')
    await page.getByText('What you can return').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await page.reload()
    await page.getByText('What you can return').waitFor()
    await page.getByText('This answer was stopped.').waitFor()
    expect(await page.getByText(policyEnd).count()).toBe(0)
    await say(page, 'Where is order A-1042?')
    await page.getByText('Let me know if something').waitFor()
  })

  test('continues after a reload in mid-answer, without lost or repeated text', async () => {
    const { page, faults } = await open(dana)
    await say(page, 'Explain the returns policy.')
    await page.getByText('What you can return').waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await page.getByText(policyEnd).waitFor()
    const shown = (await page.locator('.message.assistant .markdown').allTextContents()).join('')
    const whole = story.fixtures.find(({ response }) => response.content?.endsWith(policyEnd))?.response
      .content as string
    const letters = (text: string) => text.replace(/[^a-z0-9]/gi, '').replace(/123/, '')
    expect(letters(shown)).toBe(letters(whole.replace(/^\d\. /gm, '')))
    expect([await page.locator('.message').count(), faults]).toEqual([2, []])
  })

  test('runs no HTML of a model or a tool, follows no script link, and loads no image', async () => {
    const { page, faults } = await open(dana)
    await page.getByRole('button', { name: /A note from someone else/ }).click()
    await page.getByText('nothing like that').waitFor()
    const text = await page.locator('.message.assistant').textContent()
    expect(text).toContain('<script>alert(1)</script>')
    expect(await page.locator('.messages :is(img, script, a[href^="javascript"])').count()).toBe(0)
    expect(faults).toEqual([])
    await picture(page, 'markdown')
  })

  test('explains that the budget is used up', async () => {
    const { page } = await open(hank)
    for (let turn = 1; turn < 9 && (await page.getByRole('alert').count()) === 0; turn++) {
      await say(page, 'Show me order G-2001.')
      await page
        .getByText('$98 in total')
        .nth(turn - 1)
        .or(page.getByRole('alert'))
        .first()
        .waitFor()
      await page.getByRole('button', { name: 'Send' }).waitFor()
    }
    expect(await page.getByRole('alert').textContent()).toMatch(/^Globex has used up its budget for today/)
    await picture(page, 'refused')
  })
})

describe('the admin page', () => {
  test('shows usage, sessions, the state of the audit and the onion of a turn', async () => {
    const { page, faults } = await open(alex)
    await say(page, 'Where is order A-1042?')
    await page.getByText('Let me know if something').waitFor()
    await page.getByRole('link', { name: 'Admin' }).click()
    await page.getByText('records are intact').waitFor()
    await page.locator('.plot').waitFor()
    await expect.poll(() => page.locator('.plot rect').count()).toBe(14)
    expect(await page.locator('.sums dd').first().textContent()).not.toBe('$0.00')
    await sessionRows(page).filter({ hasText: 'alex' }).click()
    await page.locator('.panel', { hasText: 'Turns of alex' }).locator('.row').first().click()
    await page.getByText('The onion of this turn').waitFor()
    await page.locator('.layers').waitFor()
    const layers = await page.locator('.layers .layer').allTextContents()
    expect(layers.slice(0, 3)).toEqual(['guard:pii', 'guard:rateLimit', 'observe:audit'])
    expect(await page.locator('.layers tr', { hasText: 'tenant-plan' }).first().textContent()).toMatch(
      /ms.*changed.*messages/,
    )
    expect(faults).toEqual([])
  })

  test('shows admins only their own tenants, and other users nothing', async () => {
    const { page } = await open(hank)
    await page.goto(`${pages.url()}/admin`)
    await page.getByText('Nothing to administer').waitFor()
    const other = await open(alex)
    const asked = await Promise.all(
      ['usage', 'sessions', 'audit', 'waiting'].map((what) =>
        other.page.request.get(`${pages.url()}/admin/api/globex/${what}`),
      ),
    )
    expect(asked.map((response) => response.status())).toEqual([404, 404, 404, 404])
  })
})
