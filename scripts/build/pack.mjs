// `npm run pack`: every package as a tarball in ./tarballs, for use outside of this clone until they are on npm.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

const to = resolve(process.argv[2] ?? 'tarballs')
const packages = readdirSync('packages')
rmSync(to, { recursive: true, force: true })
mkdirSync(to, { recursive: true })
console.log(
  `Building ${packages.length} packages, which takes minutes the first time. Unchanged packages are not built again.`,
)
// One line for each package, as its build starts.
pnpm(
  'inherit',
  'exec',
  'turbo',
  'run',
  'build',
  '--root-turbo-json=scripts/turbo.json',
  '--output-logs=hash-only',
  '--log-order=stream',
)
pnpm('inherit', 'exec', 'node', '--import=tsx', 'scripts/docs/ship-docs.ts')
console.log('Packing')
// All in one process: pnpm takes several seconds to start. The build above has done what the script before a pack does.
pnpm('ignore', '--recursive', '--filter=./packages/*', 'pack', '--config.ignore-scripts=true', '--pack-destination', to)
console.log(`${packages.length} tarballs. In the folder of your program:\n\n  npm install ${join(to, '*.tgz')} zod\n`)

function pnpm(stdout, ...args) {
  const { status } = spawnSync('pnpm', args, { stdio: ['ignore', stdout, 'inherit'] })
  if (status !== 0) process.exit(status ?? 1)
}
