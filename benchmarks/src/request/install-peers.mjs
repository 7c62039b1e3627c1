import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = new URL('../../peers/', import.meta.url)

/** Installs the packages of benchmarks/peers unless they match its lockfile. Compiles better-sqlite3 where npm has no binary of it. */
export function installPeers() {
  const installed = new URL('node_modules/.package-lock.json', folder)
  const lockfile = new URL('package-lock.json', folder)
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lockfile).mtimeMs) return
  console.log('Installing benchmarks/peers. This takes up to five minutes.')
  execFileSync('npm', ['ci', '--silent'], { cwd: fileURLToPath(folder), stdio: 'inherit' })
}
