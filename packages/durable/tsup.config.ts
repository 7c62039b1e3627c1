import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/metrics.ts', 'src/operations.ts', 'src/schedules.ts', 'src/workflow.ts'],
})
