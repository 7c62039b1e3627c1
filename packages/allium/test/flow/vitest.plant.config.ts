import { defineConfig } from 'vitest/config'
import { ssr } from '../../../../vitest.config.ts'
import { plants } from './plants.ts'

const plant = plants[Number(process.env.FLOW_PLANT)]

/** The proof of `guard.flow` with one bug planted in what it runs; no file is changed. */
export default defineConfig({
  ssr,
  test: {
    include: ['packages/allium/test/flow/{flow,harmless}.test.ts'],
    setupFiles: ['scripts/vitest/loaded-later.ts'],
    isolate: false,
    testTimeout: 60_000,
  },
  plugins: [
    {
      name: 'plant',
      enforce: 'pre',
      transform(code, id) {
        const edits = plant?.edits.filter(([file]) => id.endsWith(`packages/${file}`)) ?? []
        return edits.reduce((text, [, from, to]) => text.replace(from, () => to), code)
      },
    },
  ],
})
