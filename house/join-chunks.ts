import { readdirSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import { type GetModuleInfo, rollup } from 'rollup'
import type { Options } from 'tsup'

type Plugin = NonNullable<Options['plugins']>[number]

/**
 * Joins the chunks that an entry loads at once. esbuild splits a package into one chunk per set of entries, and Node needs about a millisecond
 * of CPU for each file. Modules that are only loaded later keep their own chunks.
 *
 * @param groups names of entries. All chunks that a group loads become one file, except those of an earlier group.
 */
export function joinChunks(...groups: string[][]): Plugin {
  return {
    name: 'join-chunks',
    async buildEnd() {
      const folder = resolve('dist')
      const files = readdirSync(folder).filter((file) => file.endsWith('.js'))
      const entries = files.filter((file) => !/-[A-Z0-9]{8}\.js$/.test(file)).map((file) => join(folder, file))
      const bundle = await rollup({
        input: entries,
        external: (id) => !id.startsWith('.') && !isAbsolute(id),
        treeshake: false,
        plugins: [{ name: 'source-maps', load: withSourceMap, renderChunk: withoutBareImports }],
        onwarn: ({ message }) => {
          throw new Error(message)
        },
      })
      for (const file of files) for (const name of [file, `${file}.map`]) rmSync(join(folder, name))
      await bundle.write({
        dir: folder,
        sourcemap: true,
        minifyInternalExports: false,
        hoistTransitiveImports: false,
        entryFileNames: '[name].js',
        chunkFileNames: ({ name }) => (groups.some(([first]) => first === name) ? '[name].chunk.js' : '[name].js'),
        manualChunks: (id, { getModuleInfo }) =>
          groupOf(id, groups, (entry) => join(folder, `${entry}.js`), getModuleInfo),
      })
      await bundle.close()
    },
  }
}

async function withSourceMap(id: string) {
  return { code: await readFile(id, 'utf8'), map: await readFile(`${id}.map`, 'utf8') }
}

/** Rollup keeps the order of all modules with imports of no name. The packages have no side effects, and bundlers warn about these imports. */
function withoutBareImports(code: string) {
  return { code: code.replace(/^import '[^']+';$/gm, ''), map: null }
}

function groupOf(id: string, groups: string[][], fileOf: (entry: string) => string, info: GetModuleInfo) {
  return groups.find((entries) => entries.some((entry) => loads(fileOf(entry), id, info)))?.[0]
}

/** Returns whether a module imports another one, itself or through others, before it runs. */
function loads(from: string, id: string, info: GetModuleInfo, seen = new Set<string>()): boolean {
  if (from === id) return true
  if (seen.has(from)) return false
  seen.add(from)
  return info(from)?.importedIds.some((imported) => loads(imported, id, info, seen)) ?? false
}
