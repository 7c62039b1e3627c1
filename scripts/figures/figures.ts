import { join } from 'node:path'
import { floors } from '../../packages/core/test/floors.ts'
import { agentBundle } from './bundle.ts'
import { interfaceCallsOf } from './interface-calls.ts'
import { allLines, castsOf, circlesOf, codeLines, functionsOf, sourcesOf } from './sources.ts'
import { compilerOptions, surfaceOf } from './surface.ts'
import type { Figures } from './targets.ts'
import { turnCost } from './turn.ts'

/** Measures core in a checkout. It takes some seconds, and needs no build. */
export async function coreFigures(root: string): Promise<Figures<'core'>> {
  const core = join(root, 'packages/core')
  const sources = sourcesOf(join(core, 'src'))
  const lengths = sources.flatMap(functionsOf).map(({ lines }) => lines)
  lengths.sort((a, b) => a - b)
  const surface = surfaceOf(root, 'packages/core/src/index.ts')
  const through = interfaceCallsOf(join(core, 'src'), compilerOptions(root), floors)
  const turn = await turnCost(sources, { floors, through, out: join(core, '.cache/house') })
  return {
    codeLines: sources.reduce((sum, source) => sum + codeLines(source), 0),
    files: sources.length,
    longFiles: sources.filter((source) => allLines(source) > 200).length,
    functionP90: lengths[Math.floor(lengths.length * 0.9)] ?? 0,
    functionMax: lengths.at(-1) ?? 0,
    turnCalls: turn.calls,
    turnCrossings: turn.crossings,
    turnUpward: turn.upward,
    circleFiles: circlesOf(sources).flat().length,
    ringCasts: sources.flatMap(castsOf).length,
    exportedValues: surface.values,
    exportedTypes: surface.types,
    toolContext: surface.toolContext,
    allContexts: surface.allContexts,
    agentBytes: agentBundle(join(core, 'src')).bytes,
  }
}
