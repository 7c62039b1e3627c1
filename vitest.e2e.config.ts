import { defineConfig } from 'vitest/config'
import { config } from './vitest.config.ts'

/** What needs more than Node and npm: browsers, bundlers, other runtimes, databases, what users install. */
const { ssr, test } = config('e2e', [
  'e2e/*.e2e.ts',
  'packages/*/test/**/*.e2e.ts',
  'examples/*/test/*.e2e.ts',
  'site/test/*.e2e.ts',
])

// Most of them wait for timers, databases and browsers, so three share two cores.
export default defineConfig({
  ssr,
  test: {
    ...test,
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    globalSetup: 'e2e/global-setup.ts',
  },
})
