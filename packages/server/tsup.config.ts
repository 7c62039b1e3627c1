import { defineConfig } from 'tsup'
import base from '../../tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/node.ts', 'src/client.ts', 'src/inspect.ts', 'src/openai.ts', 'src/operations.ts'],
  // The package loads this entry of itself on demand.
  external: ['@allium/server/openai'],
})
