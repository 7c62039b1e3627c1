import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import axe from 'axe-core'
import { type BrowserContextOptions, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Registry, startRegistry } from './registry.ts'

const execute = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'allium-create-'))
let registry: Registry

/** Publishes all packages, then creates a project of each template, as a user does. */
beforeAll(async () => {
  registry = await startRegistry()
  const tarballs = resolve('.cache/tarballs')
  const files = readdirSync(tarballs).map((name) => join(tarballs, name))
  const publishNext = async () => {
    for (let file = files.pop(); file !== undefined; file = files.pop()) await registry.publish(file)
  }
  await Promise.all([publishNext(), publishNext(), publishNext()])
  for (const template of ['agent', 'saas', 'pack'])
    await npm(['create', 'allium@latest', template, '--', '--template', template, '--yes'], folder)
}, 400_000)

afterAll(() => {
  registry.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}, 120_000)

test('each template passes its types, lint and tests without a key', async () => {
  await npm(['run', 'check'], join(folder, 'agent'))
  await npm(['run', 'check'], join(folder, 'saas'))
  const pack = join(folder, 'pack')
  for (const script of ['lint', 'test', 'build', 'check:package']) await npm(['run', script], pack)
}, 200_000)

test.each(['node22', 'node24'])(
  'the tests of the agent and the SaaS pass on %s',
  async (runtime) => {
    const node = resolve('e2e/runtimes/node_modules', runtime, 'bin/node')
    for (const template of ['agent', 'saas'])
      await execute(node, ['node_modules/vitest/vitest.mjs', 'run'], { cwd: join(folder, template), env: registry.env })
  },
  120_000,
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
  expect(output).toMatch(/\[time_in {"zone":"Europe\/Oslo"}: ok]\nThis is a scripted answer\./)
}, 60_000)

test('npm run dev opens the inspector of the agent, and its chat answers', async () => {
  const url = await startProject('agent', ['run', 'dev', '--', '--port', '0'], {})
  const { page, faults } = await openPage(url, {})
  await page.getByLabel('Message', { exact: true }).fill('What time is it in Oslo?')
  await page.keyboard.press('Enter')
  await page.getByText('This is a scripted answer.').waitFor()
  await page
    .getByRole('treeitem', { name: /guard:budget/ })
    .first()
    .waitFor()
  expect(faults).toEqual([])
}, 60_000)

test.each<[string, BrowserContextOptions]>([
  ['light', {}],
  ['dark', { colorScheme: 'dark' }],
  ['on a phone', { viewport: { width: 390, height: 844 } }],
])(
  'the page of the SaaS signs up, streams, and asks before a refund, also after a reload: %s',
  async (_, options) => {
    const { page, faults } = await openPage(await startSaas(), options)
    await page.getByLabel('Email').fill(`${crypto.randomUUID()}@acme.test`)
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByLabel('Message', { exact: true }).fill('My lamp of order 7 is broken.')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('the refund was handled as you decided').waitFor()
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(faults).toEqual([])
  },
  90_000,
)

async function npm(args: string[], cwd: string): Promise<void> {
  await execute('npm', args, { cwd, env: { ...registry.env, CI: '1' }, maxBuffer: 16 << 20 }).catch(
    (error: Error & { stdout: string; stderr: string }) => {
      throw new Error(`npm ${args.join(' ')} in ${cwd} failed:\n${error.stdout}\n${error.stderr}`)
    },
  )
}

/** Starts the project "saas" on a free port, and returns its URL. */
function startSaas(): Promise<string> {
  return startProject('saas', ['start'], { PORT: '0', DATA: mkdtempSync(join(folder, 'data-')) })
}

/** Runs a script of a project that prints a URL, and returns the URL. */
async function startProject(name: string, args: string[], env: Record<string, string>): Promise<string> {
  const server = spawn('npm', args, {
    cwd: join(folder, name),
    env: { ...registry.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  onTestFinished(async () => {
    const exited = once(server, 'exit')
    process.kill(-(server.pid as number), 'SIGTERM')
    await exited
  })
  for await (const line of createInterface({ input: server.stdout })) {
    const [url] = /http:\S+/.exec(line) ?? []
    if (url !== undefined) return url
  }
  throw new Error(`npm ${args.join(' ')} has not started.`)
}

async function openPage(url: string, options: BrowserContextOptions) {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  })
  onTestFinished(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1000, height: 700 }, ...options })
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('console', (message) => {
    // The history of a new chat is 404.
    if (message.type() === 'error' && !message.location().url.endsWith('/messages')) faults.push(message.text())
  })
  await page.goto(url)
  return { page, faults }
}

async function violations(page: Awaited<ReturnType<typeof openPage>>['page']): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe }
    return (await inPage.run()).violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
  })
}
