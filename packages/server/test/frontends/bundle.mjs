import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

const { compileModule } = createRequire(import.meta.url)('svelte/compiler')

/** Compiles the runes of Svelte, which no browser and no Node reads. */
const svelte = {
  name: 'svelte',
  setup({ onLoad }) {
    onLoad({ filter: /\.svelte\.js$/ }, async ({ path: filename }) => ({
      contents: compileModule(await readFile(filename, 'utf8'), { filename, generate: 'client' }).js.code,
    }))
  },
}

/** Bundles each client as a page, whose `row` is what its scenarios gave. */
export function bundle(clients, outdir) {
  const folder = import.meta.dirname
  return Promise.all(
    clients.map((client) => {
      const contents = `import client from './clients/${client}.mjs'
        import { rowOf } from './scenarios.mjs'
        globalThis.row = rowOf('${client}', client, location.origin)`
      return build({
        stdin: { contents, resolveDir: folder },
        outfile: join(outdir, `${basename(client)}.js`),
        bundle: true,
        format: 'esm',
        conditions: ['svelte'],
        define: { 'process.env.NODE_ENV': '"production"' },
        plugins: [svelte],
      })
    }),
  )
}
