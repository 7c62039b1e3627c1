import { gzipSync } from 'node:zlib'
import { buildSync } from 'esbuild'

/** The bytes of `{ Agent }` of core, minified and gzipped, and how much each folder adds before gzip. */
export function agentBundle(core: string): { readonly bytes: number; readonly byFolder: ReadonlyMap<string, number> } {
  const { outputFiles, metafile } = buildSync({
    stdin: { contents: `export { Agent } from './index.ts'`, resolveDir: core },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  const byFolder = new Map<string, number>()
  for (const { inputs } of Object.values(metafile.outputs))
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const folder = /core\/src\/(.*)\//.exec(path)?.[1] ?? 'dependencies'
      byFolder.set(folder, (byFolder.get(folder) ?? 0) + bytesInOutput)
    }
  return { bytes: gzipSync(outputFiles[0]?.contents ?? '').length, byFolder }
}
