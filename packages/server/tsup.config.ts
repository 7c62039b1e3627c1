import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/node.ts', 'src/client.ts', 'src/inspect.ts', 'src/openai.ts', 'src/operations.ts'],
  // Node reads less of it at the start of a process. Names and lines stay.
  minifySyntax: true,
  // The package loads this entry of itself on demand.
  external: ['@allium/server/openai'],
})
