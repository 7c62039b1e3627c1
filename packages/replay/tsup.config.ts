import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: ['index', 'backtest/index', 'decisions', 'recorded/index', 'replay/index'].map((name) => `src/${name}.ts`),
})
