import { defineConfig } from 'vitest/config'

const tests = ['packages/*/test', 'examples/*/test', 'docs/test']

export default defineConfig(
  config(
    'unit',
    tests.map((dir) => `${dir}/**/*.test.ts`),
  ),
)

/** Packages resolve to their source, so a test needs no build. The counts also go to `.cache`, for CI. */
export function config(name: string, include: string[]) {
  return {
    ssr: { resolve: { conditions: ['@allium/source', 'node', 'development|production'] } },
    // A test that hangs fails; one that is slow on a busy machine does not.
    test: {
      include,
      isolate: false,
      testTimeout: 20_000,
      reporters: ['default', 'json'],
      outputFile: { json: `.cache/${name}.json` },
    },
  }
}
