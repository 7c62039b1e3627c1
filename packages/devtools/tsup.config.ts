import { defineConfig } from 'tsup'
import base, { dts } from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/child/main.ts'],
  dts: { ...dts, entry: 'src/index.ts' },
})
