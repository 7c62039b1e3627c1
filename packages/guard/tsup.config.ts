import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  // One file less to load.
  noExternal: ['@allium/shared/file-paths'],
})
