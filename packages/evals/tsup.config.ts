import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['index', 'answers/index', 'report', 'stored/index', 'vitest'].map((name) => `src/${name}.ts`),
})
