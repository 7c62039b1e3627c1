import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'tsup'

/** One file of a worker with all that it imports, as products ship theirs: it starts in a moment. Gives its path. */
export async function bundled(worker: string, folder: string): Promise<string> {
  await build({
    config: false,
    entry: { worker },
    format: 'esm',
    target: 'node20',
    outDir: folder,
    outExtension: () => ({ js: '.mjs' }),
    noExternal: [/./],
    silent: true,
    banner: {
      js: "import { createRequire as requireHere } from 'node:module'; const require = requireHere(import.meta.url);",
    },
    esbuildPlugins: [
      {
        name: 'drivers',
        setup(bundle) {
          // Drivers are loaded from where they are installed.
          bundle.onResolve({ filter: /^(libsql|pg)$/ }, ({ path, importer }) => ({
            path: createRequire(importer).resolve(path),
            external: true,
          }))
        },
      },
    ],
    esbuildOptions(options) {
      options.conditions = ['@allium/source', 'node']
    },
  })
  return join(folder, 'worker.mjs')
}
