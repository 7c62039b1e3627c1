import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type { BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { npm, openPage, startScript, violations } from './created-project.ts'
import { type Registry, startRegistry } from './registry.ts'

const execute = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'allium-create-'))
let registry: Registry

/** Publishes `create-allium` with npm, adds all others, then creates a project of each template, as a user does. */
beforeAll(async () => {
  registry = await startRegistry()
  const tarballs = resolve('.cache/tarballs')
  const files = readdirSync(tarballs).map((name) => join(tarballs, name))
  const isCreate = (file: string) => basename(file).startsWith('create-allium')
  await Promise.all(files.map((file) => (isCreate(file) ? registry.publish(file) : registry.add(file))))
  for (const template of ['agent', 'saas', 'pack']) {
    const lap = stopwatch()
    await npm(['create', 'allium@latest', template, '--', '--template', template, '--yes'], folder, registry.env)
    lap(`npm create ${template}`)
  }
}, 400_000)

afterAll(() => {
  registry.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}, 240_000)

test('each template passes its types, lint, tests and evaluation without a key', async () => {
  for (const app of ['agent', 'saas'])
    for (const script of ['check', 'eval']) await npm(['run', script], join(folder, app), registry.env)
  const pack = join(folder, 'pack')
  for (const script of ['lint', 'test', 'build', 'check:package']) await npm(['run', script], pack, registry.env)
}, 300_000)

test.each(['node22', 'node24'])(
  'the tests of the agent and the SaaS pass on %s',
  async (runtime) => {
    const node = resolve('e2e/runtimes/node_modules', runtime, 'bin/node')
    for (const template of ['agent', 'saas'])
      await execute(node, ['node_modules/vitest/vitest.mjs', 'run', '--testTimeout=60000'], {
        cwd: join(folder, template),
        env: registry.env,
      })
  },
  240_000,
)

test('the agent answers in the terminal, and says that a script answers', async () => {
  const chat = spawn('npm', ['run', 'chat'], {
    cwd: join(folder, 'agent'),
    env: registry.env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  chat.stdin.end('What time is it in Oslo?\n')
  const output = await text(chat.stdout)
  expect(output).toContain('Model: a script, because OPENAI_API_KEY is not set')
  expect(output).toMatch(
    /\[time_in {"zone":"Europe\/Oslo"}: ok]\nThis is a scripted answer: it is \d\d:\d\d:\d\d in Europe\/Oslo\./,
  )
})

test('npm run dev opens the inspector of the agent, and its chat answers', async () => {
  const url = await startScript(['run', 'dev', '--', '--port', '0'], join(folder, 'agent'), registry.env)
  const { page, faults } = await openPage(url)
  await page.getByLabel('Message', { exact: true }).fill('What time is it in Oslo?')
  await page.keyboard.press('Enter')
  await page.getByText('This is a scripted answer: it is').waitFor()
  await page
    .getByRole('treeitem', { name: /guard:budget/ })
    .first()
    .waitFor()
  expect(faults).toEqual([])
})

test('one command leads from npm create to a streamed answer of the SaaS in the inspector', async () => {
  const lap = stopwatch()
  const url = await startScript(['run', 'inspect', '--', '--port', '0'], join(folder, 'saas'), registry.env)
  lap('npm run inspect')
  const { page, faults } = await openPage(url)
  await page.getByRole('status').filter({ hasText: 'assistant' }).waitFor()
  lap('page')
  await page.getByLabel('Message', { exact: true }).fill('My lamp of order 17 is broken.')
  await page.keyboard.press('Enter')
  await page.getByText('Order 17 is a desk lamp. I can refund it.').waitFor()
  lap('answer')
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('I have refunded order 17.').waitFor()
  expect(faults).toEqual([])
}, 240_000)

test.each<[string, BrowserContextOptions]>([
  ['light', {}],
  ['dark, on a phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
])(
  'the page of the SaaS signs up, streams, and asks before a refund, also after a reload: %s',
  async (_, options) => {
    const { page, faults } = await openPage(await startSaas(), options)
    await page.getByLabel('Email').fill(`${crypto.randomUUID()}@acme.test`)
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByLabel('Message', { exact: true }).fill('My lamp of order 17 is broken.')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('I have refunded order 17.').waitFor()
    const send = async (text: string) => {
      await page.getByLabel('Message', { exact: true }).fill(text)
      await page.keyboard.press('Enter')
    }
    await send('My lamp of order 18 is broken.')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await send('Where is order 19?')
    await page.getByText('Cancelled by your next message').waitFor()
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
    await page.getByText('Order 19 is a desk lamp. It was delivered.').waitFor()
    await page.reload()
    await page.getByText('Refund $49.00 for order 18 (not done)').waitFor()
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(faults).toEqual([])
  },
  240_000,
)

/** Starts the project "saas" on a free port, and returns its URL. */
function startSaas(): Promise<string> {
  const env = { ...registry.env, PORT: '0', DATA: mkdtempSync(join(folder, 'data-')) }
  return startScript(['start'], join(folder, 'saas'), env)
}

/** Prints the seconds of each step, for people who read the output. */
function stopwatch(): (step: string) => void {
  let last = performance.now()
  return (step) => {
    const now = performance.now()
    console.log(`${step}: ${((now - last) / 1000).toFixed(1)} s`)
    last = now
  }
}
