import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** How much JavaScript an import loads, with its dependencies. Each file costs about a millisecond of CPU at the start of a process. */
export interface Load {
  readonly files: number
  readonly kilobytes: number
}

export type Loads = Readonly<Record<string, Load>>

/** The packages whose import is limited, with the files of each. */
const entries: Readonly<Record<string, readonly string[]>> = {
  allium: ['allium/dist/index.js'],
  "the README's agent": ['index', 'guard', 'model', 'observe', 'tools'].map((name) => `allium/dist/${name}.js`),
  server: ['server/dist/index.js'],
  'server/node': ['server/dist/node.js'],
  react: ['react/dist/index.js'],
  'store-sqlite': ['store-sqlite/dist/index.js'],
}

/** Measures the built packages in new processes. */
export function loadsOf(root: string): Loads {
  return Object.fromEntries(Object.entries(entries).map(([name, files]) => [name, loadOf(inPackages(root, files))]))
}

/** The files and bytes that the import of modules loads. Native addons do not count. */
export function loadOf(modules: readonly string[]): Load {
  const files = loadedFiles(modules)
  const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0)
  return { files: files.length, kilobytes: Math.ceil(bytes / 1000) }
}

/** The problems of own files that Node keeps in two bytes per character, because one of them is not in Latin-1. */
export function wideFileProblems(root: string): string[] {
  const files = new Set(Object.values(entries).flatMap((files) => loadedFiles(inPackages(root, files))))
  return [...files].flatMap((file) => {
    const [wide] = file.includes('node_modules') ? [] : (/[^\0-\xff]/.exec(readFileSync(file, 'utf8')) ?? [])
    return wide === undefined ? [] : `${file} contains "${wide}", which doubles its memory. Write it as an escape.`
  })
}

function inPackages(root: string, files: readonly string[]): string[] {
  return files.map((file) => `${root}/packages/${file}`)
}

function loadedFiles(modules: readonly string[]): readonly string[] {
  const script = fileURLToPath(new URL('loaded-files.mjs', import.meta.url))
  const imports = modules.map((file) => pathToFileURL(file).href)
  const lines = execFileSync(process.execPath, [script, ...imports], { encoding: 'utf8' }).split('\n')
  const urls = new Set(lines.filter((url) => url.startsWith('file:') && !url.endsWith('.node')))
  return [...urls].map((url) => fileURLToPath(url))
}

/** The step of the limits in KB. The limits of the bundles are finer, but do not count dependencies. */
const step = 20

/** The problems of loads: one above its limit, or a limit that is far above its load. The libraries differ a little by platform. */
export function loadProblems(loads: Loads, limits: Loads): string[] {
  return Object.entries(loads).flatMap(([name, { files, kilobytes }]) => {
    const limit = limits[name] ?? { files: 0, kilobytes: 0 }
    const what = `import of ${name}: ${files} files, ${kilobytes} KB, and the limit is ${limit.files} files, ${limit.kilobytes} KB.`
    if (files > limit.files || kilobytes > limit.kilobytes)
      return `${what} Import less, or load it on first use with import().`
    return files < limit.files - 2 || kilobytes <= limit.kilobytes - step
      ? `${what} Run "npm run sizes -- --lower", which lowers the limit.`
      : []
  })
}

const none = { files: Number.POSITIVE_INFINITY, kilobytes: Number.POSITIVE_INFINITY }

/** Returns limits of which none is higher than before. */
export function loweredLoads(loads: Loads, limits: Loads): Loads {
  const lower = ({ files, kilobytes }: Load, limit: Load = none): Load => ({
    files: Math.min(files, limit.files),
    kilobytes: Math.min(Math.ceil(kilobytes / step) * step, limit.kilobytes),
  })
  return Object.fromEntries(Object.entries(loads).map(([name, load]) => [name, lower(load, limits[name])]))
}
