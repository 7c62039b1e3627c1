import { defineConfig } from 'vitest/config'
const conditions = ['@allium/source', 'module', 'node', 'development|production']
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { include: [process.env.E2E ?? 'x'], isolate: false, testTimeout: 240_000, hookTimeout: 120_000 },
})
