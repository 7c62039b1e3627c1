import { defineConfig } from 'tsup'

/** The page: one script and one style sheet, with everything that they need. */
export default defineConfig({
  entry: { page: 'web/main.tsx' },
  outDir: 'dist/page',
  format: 'esm',
  target: 'es2022',
  platform: 'browser',
  minify: true,
  noExternal: [/.*/],
  esbuildOptions(options) {
    options.jsx = 'automatic'
    options.jsxImportSource = 'preact'
  },
})
