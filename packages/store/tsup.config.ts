import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: [
    'src/index.ts',
    'src/code-shape.ts',
    'src/event-log/index.ts',
    'src/journal.ts',
    'src/recordings/index.ts',
    'src/rollouts/index.ts',
  ],
  // Every import of the package would load a second file.
  splitting: false,
  // The other entries import the main one by its name, and it loads the recordings on demand.
  external: ['@allium/store', '@allium/store/recordings', '@allium/store/rollouts'],
})
