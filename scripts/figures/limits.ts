import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Loads } from './loads.ts'
import { type Figures, type Group, namesOf, targetOf } from './targets.ts'

const file = fileURLToPath(new URL('limits.json', import.meta.url))

/** The limits of core's figures, of the packages' own code and of whole programs in KB, and of what an import loads. No limit rises. */
interface Limits {
  readonly core: Figures<'core'>
  readonly project: Figures<'project'>
  readonly bundles: Sizes
  readonly programs: Sizes
  readonly loads: Loads
}

export function readLimits(): Limits {
  return JSON.parse(readFileSync(file, 'utf8')) as Limits
}

/** What is wrong with figures beside their limits: one that rose, or a limit that a figure has left behind. */
export function problemsOf<G extends Group>(group: G, figures: Figures<G>, limits: Figures<G>): string[] {
  return namesOf(group).flatMap((name) => {
    const [figure, limit] = [figures[name], limits[name]]
    const what = `${group}, ${targetOf(group, name).of}: ${figure}, and the limit is ${limit}.`
    if (figure > limit) return `${what} Bring it down: limits do not rise.`
    if (figure < limit - slackOf(name, limit)) return `${what} Run "npm run house -- --lower", which lowers the limit.`
    return []
  })
}

/** How far a figure may fall before its limit has to follow: the bytes of a bundle vary with the version of the bundler. */
function slackOf(name: string, limit: number): number {
  return name === 'agentBytes' || name === 'codeLines' ? limit * 0.01 : 0
}

/** Returns limits of which none is higher than before. */
export function lowered<G extends Group>(group: G, figures: Figures<G>, limits: Figures<G>): Figures<G> {
  return Object.fromEntries(
    namesOf(group).map((name) => [name, Math.min(figures[name], limits[name] ?? Number.POSITIVE_INFINITY)]),
  ) as Figures<G>
}

export function writeLimits(limits: Partial<Limits>): void {
  writeFileSync(file, `${JSON.stringify({ ...readLimits(), ...limits }, null, 2)}\n`)
}

/** The problems of sizes in bytes: one above its limit in KB, or a limit more than 1 KB above its size. */
export function sizeProblems(kind: 'bundle' | 'program', sizes: Sizes, limits: Sizes): string[] {
  return Object.entries(sizes).flatMap(([name, size]) => {
    const limit = (limits[name] ?? 0) * 1000
    const what = `${kind} ${name}: ${size} bytes, and the limit is ${limit}.`
    if (size > limit) return `${what} ${smaller[kind]}`
    return size < limit - 1000 ? `${what} Run "npm run sizes -- --lower", which lowers the limit.` : []
  })
}

const smaller = {
  bundle:
    'Make it smaller. The limit of a pack may only rise by what a new layer adds, and by what another limit falls.',
  program: 'Import less, or load it on first use with import(): limits do not rise.',
}

/** Returns limits of which none is higher than before. */
export function loweredSizes(sizes: Sizes, limits: Sizes): Sizes {
  const entries = Object.entries(limits)
  return Object.fromEntries(
    entries.map(([name, limit]) => [name, Math.min(limit, Math.ceil((sizes[name] ?? limit * 1000) / 1000))]),
  )
}

type Sizes = Readonly<Record<string, number>>
