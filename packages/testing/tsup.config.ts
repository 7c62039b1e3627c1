import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['src/feedback.ts', 'src/index.ts', 'src/operations.ts', 'src/recordings.ts', 'src/vitest.ts'],
})
