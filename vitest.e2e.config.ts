import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { config } from './vitest.config.ts'

/** What needs more than Node and npm: browsers, bundlers, other runtimes, databases, what users install. */
const { ssr, test } = config('e2e', [
  'e2e/*.e2e.ts',
  'packages/*/test/**/*.e2e.ts',
  'examples/*/test/*.e2e.ts',
  'site/test/*.e2e.ts',
])

/** Those that take minutes come first, so that none of them runs alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [...sorted.filter(takesMinutes), ...sorted.filter((file) => !takesMinutes(file))]
  }
}

function takesMinutes({ moduleId }: TestSpecification): boolean {
  return /store-postgres\/test\/conformance|durable\/test\/chaos|site\/test|create\.e2e|inspector\.e2e/.test(moduleId)
}

// Most of them wait for timers, databases and browsers, so four share two cores.
export default defineConfig({
  ssr,
  test: {
    ...test,
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    globalSetup: 'e2e/global-setup.ts',
  },
})
