import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: [
    'index',
    'code-shape',
    'event-log/index',
    'feedback/index',
    'journal',
    'late/index',
    'passages/index',
    'recordings/index',
    'rollouts/index',
  ].map((name) => `src/${name}.ts`),
  // Every import of the package would load a second file.
  splitting: false,
  // The other entries import the main one by its name, and it loads recordings, feedback and rollouts on demand, by `late`.
  external: ['@allium/store', '@allium/store/late'],
})
