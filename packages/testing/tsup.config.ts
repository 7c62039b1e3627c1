import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: [
    'src/feedback.ts',
    'src/index.ts',
    'src/operations.ts',
    'src/passages.ts',
    'src/recordings.ts',
    'src/rollouts.ts',
    'src/vitest.ts',
  ],
})
