// `npm run pack`: every package as a tarball in ./tarballs, for use outside of this clone until they are on npm.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

const to = resolve(process.argv[2] ?? 'tarballs')
rmSync(to, { recursive: true, force: true })
mkdirSync(to, { recursive: true })
pnpm('run', 'build')
pnpm('--recursive', '--filter', './packages/*', 'pack', '--pack-destination', to)
const made = readdirSync(to).filter((name) => name.endsWith('.tgz'))
console.log(`${made.length} tarballs. In the folder of your program:\n\n  npm install ${join(to, '*.tgz')} zod\n`)

function pnpm(...args) {
  const { status } = spawnSync('pnpm', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) process.exit(status ?? 1)
}
