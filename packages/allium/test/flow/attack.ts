import * as guard from '../../src/guard.ts'
import { type Outcome, play } from './play.ts'
import { type Scenario, scenarioOf } from './scenario.ts'

/**
 * Tries so many attacks with the guard, and each fifth without it too: one that does not get there then proves nothing. Gives the
 * first that goes wrong.
 */
export async function attack(count: number): Promise<unknown> {
  for (let seed = 0; seed < count; seed++) {
    const scenario = scenarioOf(seed)
    const bare = seed % 5 === 0 ? await play(scenario, () => undefined) : undefined
    if (bare?.reached.length === 0) return { fault: 'does not get there without the guard', scenario, bare }
    const guarded = await play(scenario, () => guard.flow())
    const fault = faultOf(scenario, guarded)
    if (fault !== undefined) return { fault, scenario, guarded }
  }
  return undefined
}

/** What the guard has not done that it promises. */
function faultOf({ sink, source }: Scenario, { reached, asked, failed }: Outcome): string | undefined {
  if (failed !== undefined) return failed
  if (reached.length > 0) return `reached ${reached}`
  if (sink.endsWith('link')) return undefined
  if (asked.length === 0) return 'nobody was asked'
  const unnamed = asked.find(
    (question) => question.untrusted === undefined || (sink !== 'write' && question.private === undefined),
  )
  if (unnamed !== undefined) return `a question named no source: ${JSON.stringify(unnamed)}`
  const read = asked.some(({ untrusted }) => untrusted?.kind === kinds[source] || untrusted?.tool === 'srv__fetch')
  return read ? undefined : `the question named ${JSON.stringify(asked)}`
}

const kinds: Partial<Record<Scenario['source'], string>> = new Proxy(
  {
    file: 'attachment',
    'steered file': 'attachment',
    'given history': 'input',
    'MCP description': 'listing',
    'stored history without labels': 'history',
    'restored history without labels': 'history',
    'history put in place': 'history',
  },
  { get: (known, source) => known[source as keyof typeof known] ?? 'tool' },
)
