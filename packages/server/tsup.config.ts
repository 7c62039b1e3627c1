import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: [
    'index',
    'node',
    'client',
    'feedback',
    'inspect',
    'mcp',
    'memory',
    'memory-client',
    'openai',
    'operations',
  ].map((name) => `src/${name}.ts`),
  // Node reads less of it at the start of a process. Names and lines stay.
  minifySyntax: true,
  // The package loads these entries of itself on demand.
  external: ['@allium/server/mcp', '@allium/server/openai'],
})
