import { gzipSync } from 'node:zlib'
import { buildSync } from 'esbuild'

/** The lines with which a program imports Allium, by the name of their limit. The files are those of the built packages. */
export const programs: Readonly<Record<string, readonly string[]>> = {
  'allium { Agent }': [`export { Agent } from './allium/dist/index.js'`],
  "the README's agent": [
    `export { Agent } from './allium/dist/index.js'`,
    `export { budget } from './allium/dist/guard.js'`,
    `export { retry } from './allium/dist/model.js'`,
    `export { usage } from './allium/dist/observe.js'`,
    `import * as tools from './allium/dist/tools.js'`,
    'export const tool = tools.function',
  ],
  'server { server }': [`export { server } from './server/dist/index.js'`],
  react: [`export * from './react/dist/index.js'`],
}

/** The bytes that each program loads at once, with its dependencies: its chunks without those that it imports later, gzipped together. */
export function programSizes(root: string): Readonly<Record<string, number>> {
  const sizes = Object.entries(programs).map(([name, lines]) => [name, sizeOf(lines.join('\n'), `${root}/packages`)])
  return Object.fromEntries(sizes)
}

function sizeOf(contents: string, resolveDir: string): number {
  const { outputFiles, metafile } = buildSync({
    stdin: { contents, resolveDir },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    outdir: 'out',
    external: ['react', 'react-dom'],
    write: false,
    metafile: true,
    logLevel: 'error',
  })
  const texts = new Map(outputFiles.map(({ path, contents: text }) => [path.slice(path.lastIndexOf('/')), text]))
  const loaded = new Set<string>()
  const load = (path: string) => {
    if (loaded.has(path)) return
    loaded.add(path)
    for (const { path: other, kind } of metafile.outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && other in metafile.outputs) load(other)
  }
  load(Object.keys(metafile.outputs).find((path) => metafile.outputs[path]?.entryPoint === '<stdin>') as string)
  const chunks = [...loaded].map((path) => texts.get(path.slice(path.lastIndexOf('/'))) as Uint8Array)
  return gzipSync(Buffer.concat(chunks), { level: 9 }).length
}
