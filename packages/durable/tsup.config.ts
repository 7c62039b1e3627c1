import { defineConfig } from 'tsup'
import base from '../../tsup.base.ts'

export default defineConfig({
  ...base,
  entry: {
    index: 'src/index.ts',
    metrics: 'src/metrics.ts',
    operations: 'src/operations.ts',
    schedules: 'src/schedules.ts',
  },
})
