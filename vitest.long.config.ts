import { defineConfig } from 'vitest/config'
import { config } from './vitest.config.ts'

/** Searches over many cases, and examples in processes of their own: what takes many seconds and seldom fails alone. CI runs it with the rest. */
export default defineConfig(config('long', ['packages/*/test/**/*.long.test.ts', 'examples/*/test/**/*.long.test.ts']))
