import { defineConfig } from 'tsup'
import base from '../../tsup.base.ts'

export default defineConfig({
  ...base,
  external: [/^allium(\/|$)/],
  entry: [
    'src/index.ts',
    'src/ai-sdk.ts',
    'src/config.ts',
    'src/context.ts',
    'src/hooks.ts',
    'src/otel.ts',
    'src/testing.ts',
    'src/testing-vitest.ts',
  ],
})
