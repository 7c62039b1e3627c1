import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/feedback.ts', 'src/passages.ts', 'src/recordings.ts', 'src/rollouts.ts'],
  // The other entries import the main one by its name.
  external: ['@allium/store-sql'],
})
