import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/recordings.ts', 'src/rollouts.ts', 'src/sql.ts'],
  // The package loads this entry of itself on demand.
  external: ['@allium/store-sqlite/recordings', '@allium/store-sqlite/rollouts'],
})
