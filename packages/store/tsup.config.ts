import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/code-shape.ts', 'src/event-log/index.ts', 'src/journal.ts'],
  // Every import of the package would load a second file.
  splitting: false,
  // The log of events imports the main entry by its name.
  external: ['@allium/store'],
})
