import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agentBundle } from './bundle.ts'
import { figuresOf, names, targets } from './figures.ts'
import { lowered, problemsOf, readLimits, writeLimits } from './limits.ts'
import { allLines, circlesOf, functionsOf, sourcesOf } from './sources.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const core = join(root, 'packages/core/src')
const figures = await figuresOf(root)
const { core: limits } = readLimits()

console.log(`${'core'.padEnd(52)}${'now'.padStart(9)}${'limit'.padStart(9)}${'target'.padStart(9)}`)
for (const name of names) {
  const { of, target } = targets[name]
  const numbers = [figures[name], limits[name], target].map((number) => String(number).padStart(9)).join('')
  console.log(`${of.padEnd(52)}${numbers}${figures[name] <= target ? '  ok' : ''}`)
}
console.log('\nBytes of { Agent } by folder, minified:')
for (const [folder, bytes] of [...agentBundle(core).byFolder].sort((a, b) => b[1] - a[1]))
  console.log(`  ${folder.padEnd(24)}${String(bytes).padStart(8)}`)
if (process.argv.includes('--places')) {
  const sources = sourcesOf(core)
  console.log(
    '\nFiles over 200 lines:',
    sources
      .filter((one) => allLines(one) > 200)
      .map(({ path }) => path)
      .join(', '),
  )
  console.log(
    'Functions over 60 lines:',
    sources
      .flatMap(functionsOf)
      .filter(({ lines }) => lines > 60)
      .map(({ place }) => place)
      .join(', '),
  )
  for (const circle of circlesOf(sources)) console.log('Circle:', circle.join(', '))
}
if (process.argv.includes('--lower')) writeLimits({ core: lowered(figures, limits) })
const problems = problemsOf(figures, readLimits().core)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0
