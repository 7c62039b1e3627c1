import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: [
    'src/index.ts',
    'src/followed-run.ts',
    'src/metrics.ts',
    'src/operations.ts',
    'src/schedules.ts',
    'src/workflow.ts',
  ],
  // It loads later.
  external: ['@allium/durable/followed-run'],
})
