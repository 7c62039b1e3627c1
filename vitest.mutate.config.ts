import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { config } from './vitest.config.ts'

const core = fileURLToPath(new URL('packages/core/src/index.ts', import.meta.url))
const mutate = config('mutate', ['packages/core/test/*.test.ts', 'packages/core/test/explore/*.test.ts'])

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

/** What `npm run mutate` holds changes of the centre against: core's tests, and a twentieth of the explorer's cases. */
export default defineConfig({
  ...mutate,
  // The test kit of another package is to run on the changed core, too.
  resolve: { alias: { '@allium/core': core } },
  // Many a change makes a run hang.
  test: { ...mutate.test, testTimeout: 8000, env: { EXPLORE_SHARE: '0.05' }, sequence: { sequencer: QuickFirst } },
})
