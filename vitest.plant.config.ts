import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { config } from './vitest.config.ts'

const core = fileURLToPath(new URL('packages/core/src/', import.meta.url))
const plant = config('plant', ['packages/core/test/*.test.ts', 'packages/core/test/explore/*.test.ts'])

/** Those that take seconds come last: most changes are found before. */
class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [...sorted.filter((file) => !isSlow(file)), ...sorted.filter(isSlow)]
  }
}

function isSlow({ moduleId }: TestSpecification): boolean {
  return /stream-properties|conformance|next-misuse|secret-split|explore/.test(moduleId)
}

/** What `npm run plant` holds planted bugs against: core's tests, and a twentieth of the explorer's cases. */
export default defineConfig({
  ...plant,
  // Other packages, such as the test kit, are to run on the changed core, too.
  resolve: {
    alias: [
      { find: /^@allium\/core$/, replacement: `${core}index.ts` },
      { find: /^@allium\/core\/(context|internal)$/, replacement: `${core}$1.ts` },
    ],
  },
  // Many a change makes a run hang.
  test: { ...plant.test, testTimeout: 8000, env: { EXPLORE_SHARE: '0.05' }, sequence: { sequencer: QuickFirst } },
})
