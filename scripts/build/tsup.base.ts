import { readFileSync } from 'node:fs'
import { defineConfig } from 'tsup'
import { shakable } from './shakable.ts'

/**
 * Types of other packages come from their builds: with the sources, each package would read all that it depends on again. `npm test` checks the
 * sources, so a build only writes the declarations. The package checks and the end-to-end tests check those.
 */
export const dts = { compilerOptions: { noCheck: true, customConditions: [], paths: ownEntries() } }

export default defineConfig({
  entry: ['src/index.ts'],
  format: 'esm',
  target: 'es2022',
  dts,
  sourcemap: true,
  clean: true,
  esbuildPlugins: [shakable],
  esbuildOptions(options) {
    // Some entries import the main one, only to share its file.
    options.logOverride = { 'ignored-bare-import': 'silent' }
  },
  // Deno, workerd and some bundlers know Node's modules by this name alone.
  removeNodeProtocol: false,
})

/** The sources of this package's entries, because some load one another by name. */
function ownEntries(): Record<string, string[]> {
  const { name, exports = {} } = JSON.parse(readFileSync('package.json', 'utf8'))
  const sources = Object.entries<{ '@allium/source'?: string }>(exports).flatMap(
    ([entry, { '@allium/source': source }]) => (source === undefined ? [] : [[name + entry.slice(1), [source]]]),
  )
  return Object.fromEntries(sources)
}
