import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { circlesOf, codeLines, functionsOf, type Source, sourcesOf } from './sources.ts'
import { surfaceOf } from './surface.ts'
import type { Figures } from './targets.ts'

/** The longest function that a package may have, in lines. */
export const longest = 60

/** Packages that users install by name, which do not count. */
const onTop = ['replay', 'evals']

/** Measures all packages of a checkout. It needs no build. */
export function projectFigures(root: string): Figures<'project'> {
  const sources = packageSources(root)
  const { values, types } = surfaceOf(root, 'packages/allium/src/index.ts')
  const tracked = execFileSync('git', ['ls-tree', '--name-only', 'HEAD'], { cwd: root, encoding: 'utf8' })
  return {
    packages: readdirSync(join(root, 'packages')).filter((name) => !onTop.includes(name)).length,
    circleFiles: sources.flatMap((one) => circlesOf(one).flat()).length,
    longFunctions: sources
      .flat()
      .flatMap(functionsOf)
      .filter(({ lines }) => lines > longest).length,
    exportedValues: values,
    exportedTypes: types,
    rootEntries: tracked.trim().split('\n').length,
  }
}

/** The lines of code of all packages. They have no limit, because new features are lines of their own. */
export function linesOfPackages(root: string): number {
  return packageSources(root)
    .flat()
    .reduce((sum, source) => sum + codeLines(source), 0)
}

export function packageSources(root: string): Source[][] {
  const folders = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name, 'src'))
  return folders.filter((folder) => existsSync(folder)).map((folder) => sourcesOf(folder))
}
