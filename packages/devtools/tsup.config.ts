import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/child/main.ts'],
  dts: { ...base.dts, entry: 'src/index.ts' },
})
