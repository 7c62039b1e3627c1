import { type Case, grace } from './case.ts'
import { extrasOf, type Kind, withTools } from './kinds.ts'
import type { Outcome } from './outcome.ts'
import { expected, never } from './spec/spec.ts'
import { actual } from './world.ts'

/** An aspect of a case that is not as it should be. */
export interface Difference {
  readonly aspect: string
  readonly expected: unknown
  readonly actual: unknown
}

/** What is wrong with a case: where the framework differs from the specification, or breaks what holds for all cases. */
export async function differences(plan: Case, noise = 1): Promise<Difference[]> {
  const { outcome, open } = expected(plan)
  if (outcome.why === never) return []
  const seen = await actual(plan, noise)
  const found: Difference[] = seen.broken.map((what) => ({
    aspect: 'broken',
    expected: 'what always holds',
    actual: what,
  }))
  if (seen.outcome === undefined || typeof plan.reader !== 'string') return found
  const bounded = open.has('endedAt') && !open.has('status')
  if (bounded && seen.outcome.endedAt > outcome.endedAt + grace)
    found.push({ aspect: 'endedAt', expected: `at most ${outcome.endedAt + grace}`, actual: seen.outcome.endedAt })
  for (const aspect of Object.keys(outcome) as (keyof Outcome)[]) {
    if (open.has(aspect)) continue
    const [a, b] = [JSON.stringify(sorted(outcome[aspect])), JSON.stringify(sorted(seen.outcome[aspect]))]
    if (a !== b) found.push({ aspect, expected: outcome[aspect], actual: seen.outcome[aspect] })
  }
  return found
}

/** What is wrong with a case that has in it what the specification does not know. */
export async function kindDifferences(kind: Kind, plan: Case, seed: number): Promise<Difference[]> {
  const tooled = kind === 'provider tool' ? plan : withTools(plan)
  const { broken } = await actual(tooled, seed, extrasOf(kind, seed))
  return broken.map((what) => ({ aspect: kind, expected: 'what always holds', actual: what }))
}

/** What differs between two runs of a case that have other numbers of microtasks at each await. */
export async function unsteady(plan: Case): Promise<Difference[]> {
  const { outcome, open } = expected(plan)
  if (outcome.why === never) return []
  const [one, other] = [await actual(plan, 1), await actual(plan, 2)]
  const strip = (seen: Outcome | undefined) =>
    seen && Object.fromEntries(Object.entries(seen).filter(([aspect]) => !open.has(aspect as keyof Outcome)))
  const [a, b] = [strip(one.outcome), strip(other.outcome)]
  return JSON.stringify(a) === JSON.stringify(b) ? [] : [{ aspect: 'microtasks', expected: a, actual: b }]
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
}
