import { defineConfig } from 'tsup'
import base from '../../tsup.base.ts'

export default defineConfig([
  {
    ...base,
    clean: ['!page/**'],
    entry: { index: 'src/index.ts', child: 'src/child/main.ts' },
    dts: { entry: 'src/index.ts' },
  },
  {
    entry: { page: 'web/main.tsx' },
    outDir: 'dist/page',
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    minify: true,
    // The page is complete: Preact is part of it.
    noExternal: [/.*/],
    esbuildOptions(options) {
      options.jsx = 'automatic'
      options.jsxImportSource = 'preact'
    },
  },
])
