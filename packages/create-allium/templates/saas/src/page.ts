import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Hono } from 'hono'

export interface Page {
  html: string
  script: string
  style: string
}

const web = fileURLToPath(new URL('../web/', import.meta.url))

/** Bundles the page into memory. */
export async function buildPage(): Promise<Page> {
  const [html, style, bundle] = await Promise.all([
    readFile(`${web}index.html`, 'utf8'),
    readFile(`${web}style.css`, 'utf8'),
    build({
      entryPoints: [`${web}main.ts`],
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      write: false,
    }),
  ])
  return { html, style, script: bundle.outputFiles[0]?.text ?? '' }
}

export function pageRoutes(app: Hono, { html, script, style }: Page): void {
  const send = (path: string, body: string, type: string) =>
    app.get(path, (c) => c.body(body, 200, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-cache' }))
  send('/', html, 'text/html')
  send('/main.js', script, 'text/javascript')
  send('/style.css', style, 'text/css')
}
