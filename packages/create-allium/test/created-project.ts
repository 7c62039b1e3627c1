import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { headless } from '../../../e2e/headless.ts'

const execute = promisify(execFile)

/** @throws Error with the output of npm */
export async function npm(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  await execute('npm', args, { cwd, env: { ...env, CI: '1' }, maxBuffer: 16 << 20 }).catch(
    (error: Error & { stdout: string; stderr: string }) => {
      throw new Error(`npm ${args.join(' ')} in ${cwd} failed:\n${error.stdout}\n${error.stderr}`)
    },
  )
}

/** Runs a script of a project that prints a URL, and returns the URL. */
export async function startScript(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const server = spawn('npm', args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
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

let browser: Browser | undefined

/** One for all tests of this process, with which it ends: a start costs more than most tests. */
async function openBrowser(): Promise<Browser> {
  if (browser?.isConnected() !== true) browser = await chromium.launch(headless)
  return browser
}

/** Opens a page in Chromium. `faults` has its errors. */
export async function openPage(url: string, options: BrowserContextOptions = {}) {
  const context = await (await openBrowser()).newContext({ viewport: { width: 1000, height: 700 }, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  await page.goto(url)
  return { page, faults }
}

export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe }
    return (await inPage.run()).violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
  })
}
