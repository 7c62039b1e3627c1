import { defineConfig } from 'vitest/config'
import { config } from './vitest.config.ts'

/** The tests of core and of combinators once more, with every turn killed after each of its steps and replayed. Virtual time cannot be: the explorer stays out. */
const killed = config('killed', [
  'packages/{core,combinators}/test/**/*.test.ts',
  'packages/core/test/killed/*.killed.ts',
])

/** A run that is started again is two lives by itself. */
const exclude = ['**/explore/**', '**/restart.test.ts']

export default defineConfig({
  ...killed,
  test: { ...killed.test, exclude, runner: './packages/core/test/killed/runner.ts' },
})
