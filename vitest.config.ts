import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { unhandledErrors } from './house/unhandled-errors.ts'

const tests = [
  'packages/*/test',
  'packages/create-allium/templates/*/test',
  'examples/*/test',
  'docs/test',
  'house/test',
  'site/test',
]

const unit = config(
  'unit',
  tests.map((dir) => `${dir}/**/*.test.{ts,tsx}`),
)

/** What takes many seconds runs as `npm run test:long`. */
export default defineConfig({ ...unit, test: { ...unit.test, exclude: ['**/node_modules/**', '**/*.long.test.ts'] } })

/** Packages resolve to their source, so a test needs no build. The counts and unhandled errors also go to `.cache`, for CI. */
export function config(name: string, include: string[]) {
  return {
    ssr: { resolve: { conditions: ['@allium/source', 'node', 'development|production'] } },
    // A test that hangs fails; one that is slow on a busy machine does not.
    test: {
      include,
      isolate: false,
      setupFiles: [fileURLToPath(new URL('house/loaded-later.ts', import.meta.url))],
      maxWorkers: '100%',
      testTimeout: 60_000,
      hookTimeout: 60_000,
      expect: { poll: { timeout: 15_000 } },
      reporters: ['default', 'json', unhandledErrors(`.cache/${name}.errors.json`)],
      outputFile: { json: `.cache/${name}.json` },
    },
  }
}
