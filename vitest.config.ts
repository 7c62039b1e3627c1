import { fileURLToPath } from 'node:url'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { ByDuration } from './scripts/vitest/by-duration.ts'
import { unhandledErrors } from './scripts/vitest/unhandled-errors.ts'

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url))

const folders = [
  'packages/*/test',
  'packages/create-allium/templates/*/test',
  'examples/*/test',
  'docs/test',
  'scripts/test',
  'scripts/site/test',
]

const unit = project('unit', {
  include: folders.map((folder) => `${folder}/**/*.test.{ts,tsx}`),
  exclude: ['**/node_modules/**', '**/*.long.test.ts'],
})

/** Searches over many cases, and examples in processes of their own: what takes many seconds and seldom fails alone. */
const long = project('long', { include: folders.map((folder) => `${folder}/**/*.long.test.ts`) })

/** What needs more than Node and npm: browsers, bundlers, other runtimes, databases, what users install. */
const e2e = project('e2e', {
  include: ['e2e/*.e2e.ts', ...folders.map((folder) => `${folder}/**/*.e2e.ts`)],
  // Many of them wait for timers, databases and browsers, so three share two cores.
  maxWorkers: 3,
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
  globalSetup: 'e2e/global-setup.ts',
})

/** The tests of core and of combinators once more, with every turn killed after each of its steps and replayed. Virtual time cannot be: the explorer stays out. */
const eachStep = project('killed/each step', {
  include: ['packages/{core,combinators}/test/**/*.test.ts', 'packages/core/test/killed/*.killed.ts'],
  // A run that is started again is two lives by itself, and one with a journal waits for the code that replays it. Steps of an earlier life
  // are not watched.
  exclude: ['**/explore/**', '**/{restart,same-tick,watching-journal}.test.ts', '**/*.long.test.ts'],
  runner: './packages/core/test/killed/runner.ts',
})

/** Random onions of the packs: their journal is their own. */
const random = project('killed/random', { include: ['packages/allium/test/killed/*.killed.ts'] })

/** What `npm run plant` holds planted bugs against: core's tests, and a twentieth of the explorer's cases. */
const plant = project('plant', {
  include: ['packages/core/test/*.test.ts', 'packages/core/test/explore/*.test.ts'],
  exclude: ['**/*.long.test.ts'],
  // Other packages, such as the test kit, are to run on the changed core, too.
  alias: [
    { find: /^@allium\/core$/, replacement: path('packages/core/src/index.ts') },
    { find: /^@allium\/core\/(context|internal)$/, replacement: `${path('packages/core/src')}/$1.ts` },
  ],
  // Many a change makes a run hang.
  testTimeout: 8000,
  env: { EXPLORE_SHARE: '0.05' },
})

/** What `vitest run FILE` runs. `--project e2e` takes another one. The type of the settings does not have it. */
const chosen: object = { project: ['unit'] }

/** Packages resolve to their source, so a test needs no build. */
export const ssr = { resolve: { conditions: ['@allium/source', 'node', 'development|production'] } }

export default defineConfig({
  ssr,
  test: {
    ...chosen,
    projects: [unit, long, e2e, eachStep, random, plant],
    maxWorkers: '100%',
    sequence: { sequencer: ByDuration },
    // The counts and unhandled errors also go to `.cache`, for CI.
    reporters: ['default', 'json', unhandledErrors()],
    outputFile: { json: '.cache/tests.json' },
  },
})

function project(name: string, own: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name,
      isolate: false,
      setupFiles: ['loaded-later', 'imports-settled'].map((name) => path(`scripts/vitest/${name}.ts`)),
      // A test that hangs fails; one that is slow on a busy machine does not.
      testTimeout: 60_000,
      hookTimeout: 60_000,
      expect: { poll: { timeout: 15_000 } },
      ...own,
    },
  }
}
