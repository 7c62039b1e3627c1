import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hono } from 'hono'
import type { Rolldown } from 'vite'

interface Page {
  body: string | Uint8Array<ArrayBuffer>
  type: string
}
/** The files that a browser loads, by path. */
export type Pages = ReadonlyMap<string, Page>

const root = fileURLToPath(new URL('../web', import.meta.url))

/** Returns the pages of a folder. Without one, it builds them in memory, so no outdated file can be served. */
export function openPages(folder: string | undefined): Promise<Pages> {
  return folder === undefined ? buildPages() : readPages(folder)
}

/** Builds the pages into a folder, from which any number of processes start without a bundler. */
export async function writePages(folder: string): Promise<void> {
  for (const [path, { body }] of await buildPages()) {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, body)
  }
}

async function readPages(folder: string): Promise<Pages> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const pages = files.map(async (file) => {
    const path = relative(folder, file).split(sep).join('/')
    return pageOf(path, new Uint8Array(await readFile(file)))
  })
  return new Map(await Promise.all(pages))
}

async function buildPages(): Promise<Pages> {
  const { build, defaultClientConditions } = await import('vite')
  const built = await build({
    root,
    configFile: false,
    logLevel: 'error',
    // In this workspace, packages need not be built.
    resolve: { conditions: ['@allium/source', ...defaultClientConditions] },
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
    output.map((file) => pageOf(file.fileName, file.type === 'chunk' ? file.code : (file.source as Page['body']))),
  )
}

function pageOf(name: string, body: Page['body']): [path: string, page: Page] {
  return [`/${name}`, { body, type: types[name.split('.').pop() as string] ?? 'text/plain' }]
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
