import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

/** Serves a built site as a static host does: `/guide/x` is guide/x.html. */
export async function serve(folder: string) {
  const server = createServer(async ({ url = '/' }, response) => {
    const path = decodeURIComponent(new URL(url, 'http://localhost').pathname)
    const candidates = [path, `${path}.html`, join(path, 'index.html')].filter((name) => extname(name) !== '')
    const found = candidates.map((name) => join(folder, name)).find(existsSync)
    if (found === undefined) return response.writeHead(404).end()
    response.setHeader('content-type', types[extname(found)] ?? 'text/plain; charset=utf-8')
    response.end(await readFile(found))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, close }
}
