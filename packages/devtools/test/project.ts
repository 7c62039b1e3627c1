import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { headless } from '../../../e2e/headless.ts'
import type { Inspector } from '../src/index.ts'

/** `npm run e2e` has built all packages, so the agent's process starts from these, which takes half the time. */
const { startInspector }: typeof import('../src/index.ts') = await import(
  process.env.ALLIUM_BUILT === '1' ? '../dist/index.js' : '../src/index.ts'
)

const folder = fileURLToPath(new URL('../.cache/', import.meta.url))
const agentFile = fileURLToPath(new URL('./agent-module.ts', import.meta.url))

/** A project with the agent of `agent-module.ts`, in its own folder. */
export interface Project {
  readonly inspector: Inspector
  readonly cwd: string
  /** Writes a file of the project. */
  write(name: string, text: string): void
  /** Sends a request to the agent's API with the token, as a program does. */
  send(path: string, body?: object, principal?: object): Promise<Response>
}

/** Starts the inspector of a new project, and closes both after the test. */
export async function startProject(source?: string): Promise<Project> {
  const { project, close } = await openProject(source)
  onTestFinished(close)
  return project
}

/**
 * A project for the tests of a file that change no file of it: most of their time is the start of its process. Their sessions stay, and each page
 * begins with a new one.
 */
export function sharedProject(): () => Project {
  let opened: Awaited<ReturnType<typeof openProject>>
  beforeAll(async () => {
    opened = await openProject()
  })
  afterAll(() => opened.close())
  return () => opened.project
}

async function openProject(source?: string): Promise<{ project: Project; close(): Promise<void> }> {
  mkdirSync(folder, { recursive: true })
  const cwd = mkdtempSync(join(folder, 'project-'))
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), text)
  }
  if (source === undefined) cpSync(agentFile, join(cwd, 'agent.ts'))
  else write('agent.ts', source)
  const inspector = await startInspector({ file: 'agent.ts', cwd, port: 0, env: {} })
  const close = async () => {
    await inspector.close()
    rmSync(cwd, { recursive: true, force: true, maxRetries: 5 })
  }
  const send: Project['send'] = (path, body, principal) =>
    fetch(`${inspector.api}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${inspector.token}`,
        'content-type': 'application/json',
        ...(principal !== undefined && { 'allium-principal': encodeURIComponent(JSON.stringify(principal)) }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return { project: { inspector, cwd, write, send }, close }
}

let browser: Browser | undefined

/** One for all tests of this process, with which it ends: a start costs more than most tests. */
async function openBrowser(): Promise<Browser> {
  if (browser?.isConnected() !== true) browser = await chromium.launch(headless)
  return browser
}

/** Opens the page of an inspector in Chromium. `faults` has the errors of the page. */
export async function openPage({ url }: Pick<Inspector, 'url'>, options: BrowserContextOptions = {}) {
  const context = await (await openBrowser()).newContext({ viewport: { width: 1300, height: 800 }, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  await page.goto(url)
  // Loading the agent takes long on a busy machine.
  await page
    .getByRole('status')
    .filter({ hasText: /support|connecting/ })
    .waitFor({ timeout: 50_000 })
  return { page, faults }
}

/** Types a message into the chat and sends it. */
export async function ask(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.keyboard.press('Enter')
}

/** Opens a view beside the chat. */
export async function openView(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name }).click()
  await page.getByText('Loading …').waitFor({ state: 'detached' })
}
