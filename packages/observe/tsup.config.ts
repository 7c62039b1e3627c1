import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/audit-log.ts', 'src/otel.ts', 'src/pino.ts', 'src/prompt-cache.ts'],
})
