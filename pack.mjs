// `npm run pack`: every package as a tarball in ./tarballs, for use outside of this clone until they are on npm.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

const to = resolve(process.argv[2] ?? 'tarballs')
const packages = readdirSync('packages').map((name) => join('packages', name))
rmSync(to, { recursive: true, force: true })
mkdirSync(to, { recursive: true })
console.log(`Building ${packages.length} packages. Those that have not changed are not built again.`)
pnpm('.', 'run', 'build')
pnpm('.', 'exec', 'node', '--import=tsx', 'house/ship-docs.ts')
for (const [n, dir] of packages.entries()) {
  const { name } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
  console.log(`Packing ${n + 1} of ${packages.length}: ${name}`)
  // The build above has done what the script before a pack does.
  pnpm(dir, 'pack', '--config.ignore-scripts=true', '--pack-destination', to)
}
console.log(`${packages.length} tarballs. In the folder of your program:\n\n  npm install ${join(to, '*.tgz')} zod\n`)

function pnpm(dir, ...args) {
  const { status } = spawnSync('pnpm', ['--dir', dir, ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) process.exit(status ?? 1)
}
