import { defineConfig } from 'vitest/config'
import { config } from './vitest.config.ts'

/** The tests of core and of combinators once more, with every turn killed after each of its steps and replayed. Virtual time cannot be: the explorer stays out. */
const killed = config('killed', [
  'packages/{core,combinators}/test/**/*.test.ts',
  'packages/core/test/killed/*.killed.ts',
])

/** A run that is started again is two lives by itself. */
const exclude = ['**/explore/**', '**/restart.test.ts']

/** Random onions of the packs: their journal is their own. */
const random = config('killed', ['packages/allium/test/killed/*.killed.ts'])

const { reporters, outputFile, maxWorkers, ...own } = killed.test

/** A test is run six times. */
const test = { ...own, testTimeout: 60_000 }

export default defineConfig({
  test: {
    reporters,
    outputFile,
    maxWorkers,
    projects: [
      { ...killed, test: { ...test, name: 'each step', exclude, runner: './packages/core/test/killed/runner.ts' } },
      { ...random, test: { ...test, name: 'random', include: random.test.include } },
    ],
  },
})
