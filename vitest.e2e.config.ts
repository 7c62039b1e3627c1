import { defineConfig } from 'vitest/config'
import { config } from './vitest.config.ts'

/** What needs more than Node and npm: a browser. */
export default defineConfig(config('e2e', ['e2e/*.e2e.ts']))
