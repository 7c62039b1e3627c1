import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pageFolder } from '../package-files.ts'

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Allium inspector</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
</head>
<body><div id="root"></div><noscript>The inspector needs JavaScript.</noscript></body>
</html>
`

const script = 'text/javascript; charset=utf-8'
const files: Readonly<Record<string, string>> = { '/page.js': script, '/page.css': 'text/css; charset=utf-8' }
/** The scripts of views that load when they are opened, and the script that they share with the page. */
const chunk = /^\/[a-z-]+-[A-Z0-9]{8}\.js$/

/** Serves the page and its files. */
export async function serveFile(request: IncomingMessage, response: ServerResponse, pathname: string): Promise<void> {
  response.setHeader('cache-control', 'no-store')
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead && pathname === '/') {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html)
    return
  }
  const type = isRead ? (files[pathname] ?? (chunk.test(pathname) ? script : undefined)) : undefined
  const body = type === undefined ? undefined : await readFile(join(pageFolder, pathname)).catch(() => undefined)
  if (body === undefined) response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found\n')
  else response.writeHead(200, { 'content-type': type }).end(body)
}
