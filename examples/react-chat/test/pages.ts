import { connect, createServer, type Socket } from 'node:net'
import { serve } from '@allium/server/node'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { headless } from '../../../e2e/headless.ts'
import { createApp } from '../src/app.ts'

let browser: Browser
let api: Awaited<ReturnType<typeof serve>>

beforeAll(async () => {
  const app = await createApp()
  ;[api, browser] = await Promise.all([
    serve(app, { port: 0, signals: false, drainTimeout: 0 }),
    chromium.launch(headless),
  ])
})

afterAll(async () => {
  await browser.close()
  api.server.closeAllConnections()
  await api.close()
})

/** Opens a new chat over a connection that the test can cut. `faults` has errors of the page, and `requests` its paths. */
export async function openPage() {
  const connection = await proxy(Number(new URL(api.url).port))
  const page = await browser.newPage()
  onTestFinished(() => page.close())
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('console', (message) => {
    // A new chat has no history, so the server answers 404.
    if (message.type() === 'error' && !message.location().url.endsWith('/messages')) faults.push(message.text())
  })
  const requests: string[] = []
  page.on('request', (request) => requests.push(new URL(request.url()).pathname))
  await page.goto(`${connection.url}/?chat=${crypto.randomUUID()}`)
  await page.getByLabel('Message', { exact: true }).waitFor()
  return { page, faults, requests, connection }
}

/** A proxy whose connections are cut by `cut()`. Between `close()` and `open()` it refuses new ones. */
async function proxy(port: number) {
  const sockets = new Set<Socket>()
  let isOpen = true
  const cut = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const front = createServer((client) => {
    if (!isOpen) return client.destroy()
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}))
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    cut()
    front.close()
  })
  const { port: bound } = front.address() as { port: number }
  return {
    url: `http://127.0.0.1:${bound}`,
    cut,
    close() {
      isOpen = false
      cut()
    },
    open() {
      isOpen = true
    },
  }
}

export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.keyboard.press('Enter')
}

export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe }
    return (await inPage.run()).violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
  })
}
