import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

// Frameworks with server components load the hooks in the browser's part of the bundle.
export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/feedback.ts', 'src/memory.ts'],
  banner: { js: "'use client'" },
})
