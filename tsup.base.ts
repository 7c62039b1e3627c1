import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts'],
  format: 'esm',
  target: 'es2022',
  dts: true,
  sourcemap: true,
  clean: true,
  // Deno, workerd and some bundlers know Node's modules by this name alone.
  removeNodeProtocol: false,
})
