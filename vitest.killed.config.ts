import { defineConfig } from 'vitest/config'
import { config } from './vitest.config.ts'

/** The tests of core and of combinators once more, with every turn killed after each of its steps and replayed. */
const killed = config('killed', ['packages/{core,combinators}/test/**/*.test.ts'])

export default defineConfig({ ...killed, test: { ...killed.test, runner: './packages/core/test/killed/runner.ts' } })
