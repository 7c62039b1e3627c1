import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: [
    'src/detect.ts',
    'src/file-paths.ts',
    'src/json-schema.ts',
    'src/order.ts',
    'src/prices.ts',
    'src/recording.ts',
    'src/resilience.ts',
  ],
  // The entry `recording` imports this one by its name, so that each remains one file.
  external: ['@allium/shared/detect'],
})
