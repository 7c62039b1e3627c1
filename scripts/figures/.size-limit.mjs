import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// The sizes of the bundles, gzipped. `sizes.ts` compares them with the limits in limits.json, in KB.
// The packs are measured without their dependencies: their own code.
const { bundles } = JSON.parse(readFileSync(new URL('limits.json', import.meta.url), 'utf8'))
const {
  core,
  'server/client': client,
  'devtools/page': page,
  'devtools/views': views,
  'devtools/late-views': lateViews,
  ...packs
} = bundles

// The page is bundled already, and a bundle of its files would have the views that load later, too.
const bundler = ['@size-limit/esbuild']

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
  // The scripts that the inspector's page loads first, with Preact, and that of the views that load when one is opened.
  {
    name: 'devtools/page',
    path: pageScripts(/^(?:page|chunk-.*)\.js$/),
    limit: `${page} KB`,
    gzip: true,
    disablePlugins: bundler,
  },
  {
    name: 'devtools/views',
    path: pageScripts(/^views-.*\.js$/),
    limit: `${views} KB`,
    gzip: true,
    disablePlugins: bundler,
  },
  {
    name: 'devtools/late-views',
    path: pageScripts(/^late-views-.*\.js$/),
    limit: `${lateViews} KB`,
    gzip: true,
    disablePlugins: bundler,
  },
]

function pageScripts(pattern) {
  const folder = built('devtools/dist/page')
  return readdirSync(folder).flatMap((name) => (pattern.test(name) ? `${folder}/${name}` : []))
}

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
