import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/feedback.ts', 'src/recordings.ts', 'src/sql.ts'],
  // The package loads these entries of itself on demand.
  external: ['@allium/store-postgres/feedback', '@allium/store-postgres/recordings', '@allium/store-postgres/sql'],
})
