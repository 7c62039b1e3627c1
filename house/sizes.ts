import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundleProblems, loweredBundles, readLimits, writeLimits } from './limits.ts'

// Compares the bundles of a build with their limits. With --lower it lowers the limits of bundles that became smaller.
const root = fileURLToPath(new URL('..', import.meta.url))
const { stdout, stderr } = spawnSync('size-limit', ['--json'], { cwd: root, encoding: 'utf8' })
if (!stdout.startsWith('['))
  throw new Error(`size-limit did not measure the bundles. Run "npm run build" first. ${stderr}`)
const measured = (JSON.parse(stdout) as { name: string; size: number }[]).map(({ name, size }) => [name, size] as const)
const sizes = Object.fromEntries(measured)

const { bundles } = readLimits()
console.log(`${'bundle, gzipped'.padEnd(24)}${'bytes'.padStart(9)}${'limit'.padStart(9)}`)
for (const [name, size] of measured)
  console.log(`${name.padEnd(24)}${String(size).padStart(9)}${`${bundles[name]} KB`.padStart(9)}`)
if (process.argv.includes('--lower')) writeLimits({ bundles: loweredBundles(sizes, bundles) })
const problems = bundleProblems(sizes, readLimits().bundles)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0
