import { defineConfig } from 'vitest/config'
import { ssr } from './vitest.config.ts'
export default defineConfig({ ssr, test: { include: ['packages/store-postgres/test/{conformance,current-schema}.e2e.ts'], testTimeout: 120000, hookTimeout: 120000, setupFiles: ['./scripts/vitest/loaded-later.ts','./scripts/vitest/imports-settled.ts'], isolate: false } })
