import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  // Names of `imports` in package.json: who bundles the package finds what they stand for, on his platform.
  external: [/^#/],
  entry: [
    'src/index.ts',
    'src/group.ts',
    'src/http.ts',
    'src/mcp.ts',
    'src/search.ts',
    'src/skills.ts',
    'src/elsewhere.ts',
  ],
})
