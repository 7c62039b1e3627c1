import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

// Copies the templates into `dist`. In the workspace they depend on `workspace:^`; a created project depends on the published versions.
const here = import.meta.dirname
const to = join(here, 'dist/templates')
const skipped = /(^|\/)(node_modules|dist|\.gitignore|\.turbo|\.cache|CHANGELOG\.md)$/

await rm(to, { recursive: true, force: true })
const versions = await packageVersions()
for (const [name, from] of [
  ['agent', 'templates/agent'],
  ['saas', 'templates/saas'],
  ['pack', '../../examples/pack-template'],
] as const) {
  await cp(join(here, from), join(to, name), { recursive: true, filter: (path) => !skipped.test(path) })
  await publishable(join(to, name))
}
await cp(join(here, 'templates/pack'), join(to, 'pack'), { recursive: true })

async function publishable(template: string): Promise<void> {
  const path = join(template, 'package.json')
  const manifest = JSON.parse(await readFile(path, 'utf8'))
  for (const kind of ['dependencies', 'devDependencies', 'peerDependencies'])
    for (const name of Object.keys(manifest[kind] ?? {}))
      if (manifest[kind][name] === 'workspace:^') manifest[kind][name] = `^${versions.get(name)}`
  // A created app stays private. A pack is for npm; only its template is private.
  if (template.endsWith('pack')) delete manifest.private
  // The condition under which packages of this repository load each other's source.
  delete manifest.exports?.['.']?.['@allium/source']
  // Under its real name, checks of this package would take it for one of its own. `scaffold` gives the name back.
  await writeFile(join(template, '_package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  await rm(path)
}

async function packageVersions(): Promise<ReadonlyMap<string, string>> {
  const root = join(here, '..')
  const manifests = await Promise.all(
    (await readdir(root)).map(async (name) => JSON.parse(await readFile(join(root, name, 'package.json'), 'utf8'))),
  )
  return new Map(manifests.map(({ name, version }) => [name, version]))
}
