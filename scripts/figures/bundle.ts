import { gzipSync } from 'node:zlib'
import { type BuildOptions, buildSync } from 'esbuild'

/** A program as a bundler makes it, without the chunks that load later. */
export interface Bundle {
  /** Its chunks, gzipped together. */
  readonly bytes: number
  /** The bytes of each source file, minified. */
  readonly byFile: ReadonlyMap<string, number>
}

/** Bundles and minifies a program, with its dependencies. */
export function bundle(contents: string, resolveDir: string, options: BuildOptions = {}): Bundle {
  const { outputFiles = [], metafile } = buildSync({
    stdin: { contents, resolveDir },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    outdir: 'out',
    write: false,
    metafile: true,
    logLevel: 'error',
    ...options,
  })
  const outputs = metafile?.outputs ?? {}
  const loaded = new Set<string>()
  const load = (path: string) => {
    if (loaded.has(path)) return
    loaded.add(path)
    for (const { path: other, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && other in outputs) load(other)
  }
  load(Object.keys(outputs).find((path) => outputs[path]?.entryPoint === '<stdin>') as string)
  const byFile = new Map<string, number>()
  for (const path of loaded)
    for (const [file, { bytesInOutput }] of Object.entries(outputs[path]?.inputs ?? {})) byFile.set(file, bytesInOutput)
  const chunks = outputFiles.filter(({ path }) =>
    [...loaded].some((one) => path.endsWith(one.slice(one.lastIndexOf('/')))),
  )
  return { bytes: gzipSync(Buffer.concat(chunks.map((chunk) => chunk.contents)), { level: 9 }).length, byFile }
}

/** The bundle of `{ Agent }` of core, from its sources. */
export function agentBundle(core: string): Bundle {
  return bundle(`export { Agent } from './index.ts'`, core)
}

/** The bytes of each folder of core, minified. */
export function byFolder({ byFile }: Bundle): ReadonlyMap<string, number> {
  const folders = new Map<string, number>()
  for (const [path, bytes] of byFile) {
    const folder = /core\/src\/(.*)\//.exec(path)?.[1] ?? 'dependencies'
    folders.set(folder, (folders.get(folder) ?? 0) + bytes)
  }
  return folders
}
