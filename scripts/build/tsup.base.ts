import { defineConfig } from 'tsup'
import { shakable } from './shakable.ts'

export default defineConfig({
  entry: ['src/index.ts'],
  format: 'esm',
  target: 'es2022',
  // Types come from the built packages: with their sources, each package would check all that it depends on again.
  dts: { compilerOptions: { customConditions: [] } },
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
