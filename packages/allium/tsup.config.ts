import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  external: [/^allium(\/|$)/],
  // One file less to load.
  noExternal: ['@allium/shared/order'],
  entry: [
    'src/index.ts',
    'src/ai-sdk.ts',
    'src/config.ts',
    'src/context.ts',
    'src/documents.ts',
    'src/group.ts',
    'src/guard.ts',
    'src/hooks.ts',
    'src/memory.ts',
    'src/model.ts',
    'src/observe.ts',
    'src/otel.ts',
    'src/pack.ts',
    'src/prompt-cache.ts',
    'src/search.ts',
    'src/skills.ts',
    'src/testing.ts',
    'src/testing-vitest.ts',
    'src/tools.ts',
  ],
})
