import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Figures, type Name, names, targets } from './figures.ts'

const file = fileURLToPath(new URL('limits.json', import.meta.url))

export function readLimits(): Figures {
  return JSON.parse(readFileSync(file, 'utf8')) as Figures
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

export function writeLimits(limits: Figures): void {
  writeFileSync(file, `${JSON.stringify(limits, null, 2)}\n`)
}
