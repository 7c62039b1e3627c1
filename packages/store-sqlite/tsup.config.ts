import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/late.ts', 'src/sql.ts'],
  // What is loaded later would share a second file with the first.
  splitting: false,
  // The package loads these entries of itself on demand.
  external: ['@allium/store-sqlite/late'],
})
