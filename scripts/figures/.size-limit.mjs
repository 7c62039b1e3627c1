import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// The sizes of the bundles, gzipped. `sizes.ts` compares them with the limits in limits.json, in KB.
// The packs are measured without their dependencies: their own code.
const { bundles } = JSON.parse(readFileSync(new URL('limits.json', import.meta.url), 'utf8'))
const { core, 'server/client': client, 'devtools/page': page, ...packs } = bundles

export default [
  {
    name: 'core', // import { Agent } from '@allium/core'
    path: built('core/dist/index.js'),
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
  { name: 'server/client', path: built('server/dist/client.js'), limit: `${client} KB`, gzip: true },
  // The whole script of the inspector's page, with Preact.
  { name: 'devtools/page', path: built('devtools/dist/page/page.js'), limit: `${page} KB`, gzip: true },
]

function built(file) {
  return fileURLToPath(new URL(`../../packages/${file}`, import.meta.url))
}

/** The file of a package, or of a path in it: `shared/prices`. */
function pathOf(name) {
  const [folder, path = 'index'] = name.split('/')
  const file = built(`${folder}/dist/${path}`)
  return existsSync(`${file}.js`) ? `${file}.js` : `${file}/index.js`
}

function withoutDependencies(config) {
  const external = { name: 'external', setup: (build) => build.onResolve({ filter: /^[^./]/ }, outside) }
  return { ...config, platform: 'node', format: 'esm', plugins: [external, ...(config.plugins ?? [])] }
}

function outside({ kind, path }) {
  return kind === 'entry-point' ? undefined : { path, external: true }
}
