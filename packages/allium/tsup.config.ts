import { defineConfig } from 'tsup'
import base from '../../tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['src/index.ts', 'src/config.ts', 'src/testing.ts', 'src/testing-vitest.ts'],
})
