import { defineConfig } from 'tsup'
import base from '../../scripts/build/tsup.base.ts'

export default defineConfig({
  ...base,
  entry: {
    index: 'src/index.ts',
    answers: 'src/answers/index.ts',
    cases: 'src/stored/index.ts',
    report: 'src/report.ts',
    vitest: 'src/vitest.ts',
  },
})
