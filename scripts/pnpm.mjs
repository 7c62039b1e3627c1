// Runs pnpm with its arguments, in the version that package.json names: `node scripts/pnpm.mjs exec vitest run`. Nobody has to install pnpm,
// and it installs by itself what is missing or stale.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const { packageManager } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const { status } = spawnSync('npx', ['-y', packageManager, ...process.argv.slice(2)], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
process.exitCode = status ?? 1
