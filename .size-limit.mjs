import { existsSync, readFileSync } from 'node:fs'

// The sizes of the bundles, gzipped. `house/sizes.ts` compares them with the limits in house/limits.json, in KB.
// The packs are measured without their dependencies: their own code.
const { bundles } = JSON.parse(readFileSync(new URL('house/limits.json', import.meta.url), 'utf8'))
const { core, 'server/client': client, 'devtools/page': page, ...packs } = bundles

export default [
  {
    name: 'core', // import { Agent } from '@allium/core'
    path: 'packages/core/dist/index.js',
    import: '{ Agent }',
    limit: `${core} KB`,
    gzip: true,
  },
  ...Object.entries(packs).map(([name, limit]) => ({
    name,
    path: pathOf(name),
    limit: `${limit} KB`,
    gzip: true,
    modifyEsbuildConfig: withoutDependencies,
  })),
  // With fromJson() of core, for stored state, and what that imports.
  { name: 'server/client', path: 'packages/server/dist/client.js', limit: `${client} KB`, gzip: true },
  // The whole script of the inspector's page, with Preact.
  { name: 'devtools/page', path: 'packages/devtools/dist/page/page.js', limit: `${page} KB`, gzip: true },
]

/** The file of a package, or of a path in it: `shared/prices`. */
function pathOf(name) {
  const [folder, path = 'index'] = name.split('/')
  const file = `packages/${folder}/dist/${path}`
  return existsSync(`${file}.js`) ? `${file}.js` : `${file}/index.js`
}

function withoutDependencies(config) {
  const external = { name: 'external', setup: (build) => build.onResolve({ filter: /^[^./]/ }, outside) }
  return { ...config, platform: 'node', format: 'esm', plugins: [external, ...(config.plugins ?? [])] }
}

function outside({ kind, path }) {
  return kind === 'entry-point' ? undefined : { path, external: true }
}
