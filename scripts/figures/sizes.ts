import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { loweredSizes, readLimits, sizeProblems, writeLimits } from './limits.ts'
import { loadProblems, loadsOf, loweredLoads, wideFileProblems } from './loads.ts'
import { programSizes } from './programs.ts'

// Compares the bundles and programs of a build, and what its imports load, with their limits. With --lower it lowers the limits of those that became smaller.
const root = fileURLToPath(new URL('../..', import.meta.url))
const { stdout, stderr } = spawnSync('size-limit', ['--json'], { cwd: import.meta.dirname, encoding: 'utf8' })
if (!stdout.startsWith('['))
  throw new Error(`size-limit did not measure the bundles. Run "npm run build" first. ${stderr}`)
const measured = (JSON.parse(stdout) as { name: string; size: number }[]).map(({ name, size }) => [name, size] as const)
const sizes = Object.fromEntries(measured)

const programs = programSizes(root)
const loads = loadsOf(root)

const { bundles, programs: programLimits, loads: loadLimits } = readLimits()
console.log(`${'bundle, gzipped'.padEnd(24)}${'bytes'.padStart(9)}${'limit'.padStart(9)}`)
for (const [name, size] of measured)
  console.log(`${name.padEnd(24)}${String(size).padStart(9)}${`${bundles[name]} KB`.padStart(9)}`)
console.log(`\n${'program, gzipped'.padEnd(24)}${'bytes'.padStart(9)}${'limit'.padStart(9)}`)
for (const [name, size] of Object.entries(programs))
  console.log(`${name.padEnd(24)}${String(size).padStart(9)}${`${programLimits[name]} KB`.padStart(9)}`)
console.log()
for (const [name, { files, kilobytes }] of Object.entries(loads))
  console.log(`import of ${name}`.padEnd(24) + `${files} files, ${kilobytes} KB`.padStart(18))
if (process.argv.includes('--lower'))
  writeLimits({
    bundles: loweredSizes(sizes, bundles),
    programs: loweredSizes(programs, programLimits),
    loads: loweredLoads(loads, loadLimits),
  })
const limits = readLimits()
const problems = [
  ...sizeProblems('bundle', sizes, limits.bundles),
  ...sizeProblems('program', programs, limits.programs),
  ...loadProblems(loads, limits.loads),
  ...wideFileProblems(root),
]
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0
