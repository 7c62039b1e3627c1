import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agentBundle, byFolder } from './bundle.ts'
import { coreFigures } from './figures.ts'
import { lowered, problemsOf, readLimits, writeLimits } from './limits.ts'
import { linesOfPackages, longest, packageSources, projectFigures } from './project.ts'
import { allLines, circlesOf, functionsOf, sourcesOf } from './sources.ts'
import { type Figures, type Group, namesOf, targetOf } from './targets.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const core = join(root, 'packages/core/src')
const figures = { core: await coreFigures(root), project: projectFigures(root) }
const limits = readLimits()

printGroup('core', figures.core)
printGroup('project', figures.project)
console.log(`lines of code in packages/*/src: ${linesOfPackages(root)}`)
console.log('\nBytes of { Agent } of core by folder, minified:')
for (const [folder, bytes] of [...byFolder(agentBundle(core))].sort((a, b) => b[1] - a[1]))
  console.log(`  ${folder.padEnd(24)}${String(bytes).padStart(8)}`)
if (process.argv.includes('--places')) printPlaces()
if (process.argv.includes('--lower'))
  writeLimits({
    core: lowered('core', figures.core, limits.core),
    project: lowered('project', figures.project, limits.project),
  })
const { core: coreLimits, project: projectLimits } = readLimits()
const problems = [
  ...problemsOf('core', figures.core, coreLimits),
  ...problemsOf('project', figures.project, projectLimits),
]
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0

function printGroup<G extends Group>(group: G, now: Figures<G>): void {
  console.log(`${group.padEnd(62)}${'now'.padStart(8)}${'limit'.padStart(8)}${'target'.padStart(8)}`)
  for (const name of namesOf(group)) {
    const { of, target, missed } = targetOf(group, name)
    const limit = (limits[group] as Figures<G>)[name]
    const numbers = [now[name], limit, target].map((number) => String(number).padStart(8)).join('')
    console.log(`${of.padEnd(62)}${numbers}${now[name] <= target ? '  ok' : ''}`)
    if (now[name] > target && missed !== undefined) console.log(`  ${missed}`)
  }
  console.log()
}

function printPlaces(): void {
  const long = sourcesOf(core).filter((one) => allLines(one) > 200)
  console.log('\nFiles of core over 200 lines:', long.map(({ path }) => path).join(', '))
  for (const sources of packageSources(root)) {
    for (const { lines, place } of sources.flatMap(functionsOf))
      if (lines > longest) console.log(`A function of ${lines} lines:`, place)
    for (const circle of circlesOf(sources)) console.log('Circle:', circle.join(', '))
  }
}
