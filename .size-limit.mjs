// What `npm run check` holds sizes to, gzipped. The packs without their dependencies: their own code.
const packs = {
  combinators: 7,
  config: 16,
  detect: 8,
  durable: 8,
  'durable-restate': 5,
  guard: 41,
  hooks: 7,
  'json-schema': 8,
  memory: 8,
  model: 8,
  observe: 15,
  prices: 2,
  providers: 20,
  resilience: 2,
  server: 44,
  store: 9,
  'store-postgres': 29,
  'store-redis': 6,
  'store-sql': 11,
  'store-sqlite': 19,
  testing: 56,
  tools: 21,
}

export default [
  {
    name: "import { Agent } from '@allium/core'",
    path: 'packages/core/dist/index.js',
    import: '{ Agent }',
    limit: '69 KB',
    gzip: true,
  },
  ...Object.entries(packs).map(([name, limit]) => ({
    name: `@allium/${name}`,
    path: `packages/${name}/dist/index.js`,
    limit: `${limit} KB`,
    gzip: true,
    modifyEsbuildConfig: withoutDependencies,
  })),
  // With fromJson() of core, for state as it was kept: what core imports comes along.
  { name: '@allium/server/client', path: 'packages/server/dist/client.js', limit: '8 KB', gzip: true },
]

function withoutDependencies(config) {
  const external = { name: 'external', setup: (build) => build.onResolve({ filter: /^[^./]/ }, outside) }
  return { ...config, platform: 'node', format: 'esm', plugins: [external, ...(config.plugins ?? [])] }
}

function outside({ kind, path }) {
  return kind === 'entry-point' ? undefined : { path, external: true }
}
