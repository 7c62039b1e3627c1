import { fileURLToPath } from 'node:url'
import type { Hono } from 'hono'
import { build, type Rolldown } from 'vite'

interface Page {
  body: string | Uint8Array<ArrayBuffer>
  type: string
}
/** The files that a browser loads, by path. */
export type Pages = ReadonlyMap<string, Page>

const root = fileURLToPath(new URL('../web', import.meta.url))

/** Builds the pages in memory, so no outdated file can be served. */
export async function buildPages(): Promise<Pages> {
  const built = await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      modulePreload: { polyfill: false },
      // Inlined data would need another rule in the Content-Security-Policy.
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 2000,
      rollupOptions: { input: [`${root}/index.html`, `${root}/admin.html`] },
    },
  })
  const { output } = built as Rolldown.RolldownOutput
  return new Map(
    output.map((file) => {
      const body = file.type === 'chunk' ? file.code : (file.source as Page['body'])
      return [`/${file.fileName}`, { body, type: types[file.fileName.split('.').pop() as string] ?? 'text/plain' }]
    }),
  )
}

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The routes of the pages. The name of a file contains a digest of its content. */
export function pageRoutes(app: Hono, pages: Pages): void {
  const send = ({ body, type }: Page, cache: string) =>
    new Response(body, { headers: { 'content-type': type, 'cache-control': cache } })
  for (const [path, page] of pages) {
    const [route, cache] = paths[path] ?? [path, 'public, max-age=31536000, immutable']
    app.get(route, () => send(page, cache))
  }
}

const paths: Record<string, [string, string]> = {
  '/index.html': ['/', 'no-cache'],
  '/admin.html': ['/admin', 'no-cache'],
}
