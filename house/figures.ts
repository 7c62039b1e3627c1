import { join } from 'node:path'
import { floors } from '../packages/core/test/floors.ts'
import { agentBundle } from './bundle.ts'
import { allLines, castsOf, circlesOf, codeLines, functionsOf, sourcesOf } from './sources.ts'
import { surfaceOf } from './surface.ts'
import { turnCost } from './turn.ts'

/** What is measured of core: what it is, and where it is to go. Less is better. */
export const targets = {
  codeLines: { of: 'lines of code, without comments and blank lines', target: 11_500 },
  files: { of: 'files', target: 160 },
  longFiles: { of: 'files over 200 lines', target: 5 },
  functionP90: { of: 'lines of a function, 90th percentile', target: 14 },
  functionMax: { of: 'lines of the longest function', target: 60 },
  turnCalls: { of: 'function calls of a bare turn', target: 550 },
  turnCrossings: { of: 'of these, calls into another folder', target: 180 },
  turnUpward: { of: 'of these, calls into a folder above', target: 0 },
  circleFiles: { of: 'files in import circles, types included', target: 0 },
  ringCasts: { of: "casts to the rings' own classes", target: 5 },
  exportedValues: { of: 'exported values', target: 40 },
  exportedTypes: { of: 'exported types', target: 160 },
  toolContext: { of: 'members of the tool context', target: 48 },
  allContexts: { of: 'members of all contexts', target: 60 },
  agentBytes: { of: '{ Agent }, bytes minified and gzipped', target: 54_000 },
} as const

export type Name = keyof typeof targets
export type Figures = Readonly<Record<Name, number>>

export const names = Object.keys(targets) as Name[]

/** Measures core in a checkout. It takes some seconds, and needs no build. */
export async function figuresOf(root: string): Promise<Figures> {
  const core = join(root, 'packages/core')
  const sources = sourcesOf(join(core, 'src'))
  const lengths = sources.flatMap(functionsOf).map(({ lines }) => lines)
  lengths.sort((a, b) => a - b)
  const surface = surfaceOf(root, 'packages/core/src/index.ts')
  const turn = await turnCost(sources, floors, join(core, '.cache/house'))
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
