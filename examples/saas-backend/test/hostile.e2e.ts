import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { demoKeys } from '../src/demo-keys.ts'
import { picture, say, sessionRows, startPages } from './browser.ts'
import { faultsOfAxe, overflow } from './looks.ts'

const [dana, alex] = demoKeys.map(({ key }) => key) as [string, string]
const pages = startPages()
const phone = { viewport: { width: 390, height: 800 } }

const address = `https://shop.example/${'a'.repeat(137 - 'https://shop.example/'.length)}`
/** Markup, a script link, a word without an end, text that turns around, stacked accents, names of members that each object has. */
const hostile = [
  '<img src=x onerror=alert(1)><script>alert(2)</script>',
  '[x](javascript:alert(3)) ![y](https://evil.invalid/y.png)',
  'W'.repeat(300),
  '\u202Eright to left\u2066\u0007',
  `z${'\u0300\u0301\u0302'.repeat(60)}`,
  '__proto__ constructor toString',
].join(' ')

/** Elements that were created from markup in the texts. */
async function harm(page: Page, faults: string[]) {
  const elements = page.locator(':is(img[src="x"], script:not([src]), a[href^="javascript"], img[src*="evil"])')
  return { elements: await elements.count(), overflow: await overflow(page), faults }
}
const none = { elements: 0, overflow: 0, faults: [] }

describe('on a phone', () => {
  test('an address of 137 characters fits, typed, sent and in an answer', async () => {
    const { page, faults } = await pages.open(dana, phone)
    await page.getByLabel('Message').fill(address)
    expect(await overflow(page)).toBe(0)
    await page.getByLabel('Message').press('Enter')
    await page.getByText('This demo runs a script').waitFor()
    expect(await harm(page, faults)).toEqual(none)
  })

  test('a conversation of hostile texts is shown as text, and fits', async () => {
    const { page, faults } = await pages.open(dana, phone)
    await page.route('**/me', (route) => route.fulfill({ json: { me: { ...me, administers: [] } } }))
    await page.route('**/api/sessions?*', (route) => route.fulfill({ json: { sessions: [session] } }))
    await page.route('**/messages', (route) => route.fulfill({ json: { messages, running: false } }))
    await page.goto(`${pages.url()}/#hostile`)
    await page.reload()
    await page.getByText('a failed call').waitFor()
    expect(await harm(page, faults)).toEqual(none)
    expect(await page.locator('.message.user p').first().textContent()).toBe(hostile)
    expect([await page.locator('.card').count(), await faultsOfAxe(page)]).toEqual([6, []])
    await picture(page, 'hostile-chat')
    await page.getByRole('button', { name: 'Conversations' }).click()
    await page.locator('.chats .title', { hasText: 'onerror' }).waitFor()
    expect([await overflow(page), await faultsOfAxe(page)]).toEqual([0, []])
  })

  test('an admin page of hostile names is shown as text, and fits', async () => {
    const { page, faults } = await pages.open(alex, phone)
    await page.route('**/me', (route) => route.fulfill({ json: { me } }))
    for (const [path, json] of Object.entries(adminAnswers)) await page.route(path, (route) => route.fulfill({ json }))
    await page.goto(`${pages.url()}/admin`)
    await sessionRows(page).first().click()
    await page.locator('.panel', { hasText: 'Turns of' }).locator('.row').first().click()
    await page.locator('.layers').waitFor()
    await page.locator('.panel', { hasText: 'Durable runs' }).locator('.row').first().click()
    const run = page.locator('.panel', { hasText: 'Steps of the run' })
    await run.getByLabel('Reason to read it').fill('ticket 7')
    await run.getByRole('button', { name: 'Read the messages' }).click()
    await run.locator('pre.content').waitFor()
    expect(await harm(page, faults)).toEqual(none)
    expect([await page.locator('.request dd').count(), await faultsOfAxe(page)]).toEqual([1, []])
    await picture(page, 'hostile-admin')
  })
})

describe('an error', () => {
  test.each([
    ['a page of a proxy', { status: 502, contentType: 'text/html', body: '<html><h1>502 Bad Gateway</h1></html>' }],
    ['the name of an error', { status: 500, body: 'AI_APICallError' }],
    ['a technical problem', { status: 500, json: { code: 'server.failed', message: 'ECONNREFUSED 127.0.0.1:5432' } }],
  ])('of %s is told as a sentence', async (_, answer) => {
    const { page } = await pages.open(dana)
    await page.route('**/api/chat', (route) => route.fulfill(answer))
    await say(page, 'Where is order A-1042?')
    await page.getByText('Something went wrong. Try again in a moment.').waitFor()
    expect(await page.locator('.notice').allTextContents()).not.toContainEqual(expect.stringMatching(/AI_|ECONN|502|</))
  })
})

const me = {
  name: hostile,
  tenantId: hostile,
  tenant: hostile,
  plan: hostile,
  administers: [hostile],
  reads: [hostile],
  refunds: true,
}
const session = { id: 'hostile', version: 1, status: 'completed', updatedAt: 1 }
const call = { toolCallId: 'c', input: { [hostile]: hostile, nested: { deep: [hostile] }, list: [1, null] } }
const messages = [
  { id: '1', role: 'user', parts: [{ type: 'text', text: hostile }, fileOf(hostile)] },
  {
    id: '2',
    role: 'assistant',
    parts: [
      { type: 'text', text: `# ${hostile}\n\n> ${hostile}\n\n| a | b |\n|---|---|\n| ${hostile} | ${hostile} |` },
      { type: 'text', text: `\`\`\`\n${hostile}\n\`\`\`\n- ${hostile}\n\n\`${hostile}\`` },
      { ...call, type: `tool-${hostile}`, state: 'output-available', output: hostile },
      { ...call, type: 'tool-constructor', state: 'output-available', output: `{${hostile}` },
      { ...call, type: 'tool-__proto__', state: 'output-available', output: { [hostile]: hostile } },
      { ...call, type: 'tool-handoff', state: 'output-available', input: { to: hostile }, output: hostile },
      { ...call, type: 'tool-refund', state: 'approval-requested', approval: { id: 'token' } },
      { ...call, type: 'tool-refund', state: 'input-available', input: hostile },
      { ...call, type: 'tool-refund', state: 'output-error', errorText: `${hostile} a failed call` },
      fileOf(hostile),
    ],
  },
]

function fileOf(filename: string) {
  return { type: 'file', mediaType: hostile, filename, url: 'https://evil.invalid/f.png' }
}

const key = { owner: hostile, sessionId: hostile }
const layer = {
  layer: hostile,
  scope: hostile,
  subject: hostile,
  core: false,
  start: 0,
  duration: 1,
  self: 1,
  entered: 1,
}
const outer = { ...layer, decision: 'changed', detail: hostile, changed: [{ field: hostile, note: hostile }] }
const operated = { run: 'r', key, status: 'failed', code: hostile, updatedAt: 1 }
const adminAnswers: Record<string, unknown> = {
  '**/runs': {
    groups: [{ status: 'failed', agent: hostile, version: hostile, queue: hostile, count: 1, oldestAge: 1e12 }],
    failures: [{ code: hostile, count: 1 }],
    runs: [operated],
  },
  '**/runs/r': {
    run: operated,
    timeline: [
      { type: 'claimed', at: 1, attempt: 1 },
      { type: 'step', at: 2, step: hostile, kind: 'tool', callId: hostile, claim: 1 },
      { type: 'ended', at: 3, status: 'failed', code: hostile },
    ],
    pending: [{ callId: hostile, name: hostile }],
    usage: { inputTokens: 1, outputTokens: 1, calls: 1 },
  },
  '**/runs/r/content': { task: { input: hostile }, steps: [], messages: [hostile] },
  '**/sessions': { items: [{ key, version: 1, status: 'completed', updatedAt: 1 }] },
  '**/waiting': { items: [{ key, callId: 'c', name: hostile }] },
  '**/api/approvals?*': { approvals: [{ ...key, callId: 'c', args: { [hostile]: hostile }, token: 'token' }] },
  '**/usage': { days: [{ day: '2026-11-24', runs: 1, usage: { inputTokens: 1, outputTokens: 1 }, cost: 1e9 }] },
  '**/audit': {
    verdict: { ok: false, records: 1, firstBad: { line: 2, reason: hostile } },
    records: [{ seq: 1, at: 1, user: hostile, type: hostile, tool: hostile }],
  },
  '**/turns': {
    turns: [
      {
        turnId: 't',
        agent: hostile,
        status: 'blocked',
        reason: hostile,
        startedAt: 1,
        usage: { inputTokens: 1, outputTokens: 1 },
      },
    ],
  },
  '**/onion': {
    agent: hostile,
    status: 'completed',
    duration: 1,
    root: { ...outer, children: [{ ...outer, children: [] }] },
  },
}
