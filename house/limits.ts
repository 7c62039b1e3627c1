import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Figures, type Name, names, targets } from './figures.ts'
import type { Loads } from './loads.ts'

const file = fileURLToPath(new URL('limits.json', import.meta.url))

/** The limits of core's figures, of the bundles in KB, and of what an import loads. */
interface Limits {
  readonly core: Figures
  readonly bundles: Readonly<Record<string, number>>
  readonly loads: Loads
}

export function readLimits(): Limits {
  return JSON.parse(readFileSync(file, 'utf8')) as Limits
}

/** What is wrong with figures beside their limits: one that rose, or a limit that a figure has left behind. */
export function problemsOf(figures: Figures, limits: Figures): string[] {
  return names.flatMap((name) => {
    const [figure, limit] = [figures[name], limits[name]]
    const what = `core, ${targets[name].of}: ${figure}, and the limit is ${limit}.`
    if (figure > limit) return `${what} Bring it down, or write a page in docs/decisions that says why the limit rises.`
    if (figure < limit - slackOf(name, limit)) return `${what} Run "npm run house -- --lower", which lowers the limit.`
    return []
  })
}

/** How far a figure may fall before its limit has to follow: the bytes of a bundle vary with the version of the bundler. */
function slackOf(name: Name, limit: number): number {
  return name === 'agentBytes' || name === 'codeLines' ? limit * 0.01 : 0
}

/** Returns limits of which none is higher than before. */
export function lowered(figures: Figures, limits: Figures): Figures {
  return Object.fromEntries(
    names.map((name) => [name, Math.min(figures[name], limits[name] ?? Number.POSITIVE_INFINITY)]),
  ) as Figures
}

export function writeLimits(limits: Partial<Limits>): void {
  writeFileSync(file, `${JSON.stringify({ ...readLimits(), ...limits }, null, 2)}\n`)
}

/** The problems of bundle sizes in bytes: a size above its limit in KB, or a limit more than 1 KB above its size. */
export function bundleProblems(sizes: Sizes, limits: Sizes): string[] {
  return Object.entries(sizes).flatMap(([name, size]) => {
    const limit = (limits[name] ?? 0) * 1000
    const what = `bundle ${name}: ${size} bytes, and the limit is ${limit}.`
    if (size > limit) return `${what} Make it smaller, or write a page in docs/decisions that says why the limit rises.`
    return size < limit - 1000 ? `${what} Run "npx -y pnpm@10.34.8 run sizes --lower", which lowers the limit.` : []
  })
}

export function loweredBundles(sizes: Sizes, limits: Sizes): Sizes {
  const entries = Object.entries(limits)
  return Object.fromEntries(
    entries.map(([name, limit]) => [name, Math.min(limit, Math.ceil((sizes[name] ?? limit * 1000) / 1000))]),
  )
}

type Sizes = Readonly<Record<string, number>>
