import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { build } from 'tsup'
import { expect, it } from 'vitest'

it('core runs in a browser, in a page and in a worker', { timeout: 90_000 }, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'allium-browser-'))
  await bundle(dir)
  const { url, outcome, close } = await serve(dir)
  const browser = spawn('chromium', [...flags, `--user-data-dir=${join(dir, 'profile')}`, url], {
    stdio: 'ignore',
    detached: true,
  })
  try {
    const each = '["DONE","42",2,2,"AbortError","completed"]'
    expect(await outcome).toEqual({ page: each, worker: each })
  } finally {
    const gone = once(browser, 'exit')
    process.kill(-(browser.pid as number), 'SIGKILL')
    await gone
    close()
    await rm(dir, { recursive: true, force: true, maxRetries: 5 })
  }
})

const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'].concat(
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
)

async function bundle(outDir: string): Promise<void> {
  const entry = { page: 'e2e/page.ts', worker: 'e2e/worker.ts' }
  const options = { platform: 'browser', target: 'es2022', format: 'esm', splitting: false } as const
  await build({ ...options, entry, outDir, noExternal: [/./], config: false, silent: true })
}

/** Serves the page and its scripts, and takes what the page found out. */
async function serve(dir: string) {
  const pages: Record<string, string> = {
    '/': '<script type="module" src="/page.js"></script>',
    '/page.js': await readFile(join(dir, 'page.js'), 'utf8'),
    '/worker.js': await readFile(join(dir, 'worker.js'), 'utf8'),
  }
  let found = (_: unknown) => {}
  const outcome = new Promise((resolve) => {
    found = resolve
  })
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const { url = '/', method } = request
    if (method === 'POST') found(JSON.parse(await text(request)))
    response.setHeader('content-type', url === '/' ? 'text/html' : 'text/javascript')
    response.writeHead(url in pages || method === 'POST' ? 200 : 404).end(pages[url])
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, outcome, close: () => server.closeAllConnections() ?? server.close() }
}
