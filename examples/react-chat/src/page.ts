import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const path = (file: string) => fileURLToPath(new URL(`../web/${file}`, import.meta.url))

/** Bundles the page in memory. Returns its files by URL path. */
export async function buildPage(): Promise<ReadonlyMap<string, { body: string; type: string }>> {
  const { outputFiles } = await build({
    entryPoints: [path('main.tsx')],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    minify: true,
    conditions: ['@allium/source'],
    define: { 'process.env.NODE_ENV': '"development"' },
  })
  return new Map([
    ['/', { body: readFileSync(path('index.html'), 'utf8'), type: 'text/html; charset=utf-8' }],
    ['/style.css', { body: readFileSync(path('style.css'), 'utf8'), type: 'text/css; charset=utf-8' }],
    ['/main.js', { body: outputFiles[0]?.text ?? '', type: 'text/javascript; charset=utf-8' }],
  ])
}
