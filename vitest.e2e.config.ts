import { defineConfig } from 'vitest/config'
import { config } from './vitest.config.ts'

/** What needs more than Node and npm: a browser, a database. */
export default defineConfig(config('e2e', ['e2e/*.e2e.ts', 'packages/*/test/*.e2e.ts']))
