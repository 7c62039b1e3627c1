import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { headless } from './headless.ts'

const flags = headless.args.concat(
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
)

export interface PageOptions {
  /** The folder whose scripts are served; `page.js` is loaded. */
  dir: string
  /** A Content-Security-Policy for the page. */
  policy?: string
}

/** Loads a page with the script `page.js` in Chromium, and gives what the script posts to `/outcome`. */
export async function inPage({ dir, policy }: PageOptions): Promise<unknown> {
  const profile = await mkdtemp(join(tmpdir(), 'allium-browser-'))
  const { url, outcome, close } = await serve(dir, policy)
  const args = [...flags, `--user-data-dir=${profile}`, url]
  const browser = spawn(headless.executablePath, args, { stdio: 'ignore', detached: true })
  try {
    return await outcome
  } finally {
    const gone = once(browser, 'exit')
    process.kill(-(browser.pid as number), 'SIGKILL')
    await gone
    close()
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Serves the page and its scripts, and takes what the page found out. */
async function serve(dir: string, policy: string | undefined) {
  let found = (_: unknown) => {}
  const outcome = new Promise((resolve) => {
    found = resolve
  })
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const { url = '/', method } = request
    if (policy !== undefined) response.setHeader('content-security-policy', policy)
    if (method === 'POST') found(JSON.parse(await text(request)))
    if (url === '/') {
      response.setHeader('content-type', 'text/html').end('<script type="module" src="/page.js"></script>')
      return
    }
    const body = await readFile(join(dir, url)).catch(() => undefined)
    response.setHeader('content-type', 'text/javascript')
    response.writeHead(body !== undefined || method === 'POST' ? 200 : 404).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, outcome, close: () => server.closeAllConnections() ?? server.close() }
}
