import type { EvalDecision } from '../report/report.ts'
import type { Scorer } from '../run/run.ts'

/** The fields of a decision that must be equal. `reason` is a part of the text, or a regular expression. */
export interface DecisionPattern extends Partial<Pick<EvalDecision, 'layer' | 'scope' | 'tool' | 'decision'>> {
  readonly reason?: string | RegExp
}

/**
 * Scores 1 if a layer decided as described: which layer denied a call, blocked the turn, answered from a cache, retried.
 *
 * @example
 * decided({ layer: 'guard:policy', decision: 'denied', tool: 'refund' })
 */
export function decided(pattern: DecisionPattern): Scorer {
  return ({ decisions }) =>
    decisions.some((one) => fits(one, pattern))
      ? { score: 1 }
      : { score: 0, reason: `Missing: ${expectedOf(pattern)}. Decisions: ${told(decisions)}.` }
}

/** Scores 1 if no layer decided as described. Without a pattern: if no layer denied, suspended or blocked anything. */
export function notDecided(pattern?: DecisionPattern): Scorer {
  const isWrong = (one: EvalDecision) => (pattern === undefined ? refusals.includes(one.decision) : fits(one, pattern))
  return ({ decisions }) => {
    const wrong = decisions.filter(isWrong)
    return wrong.length === 0 ? { score: 1 } : { score: 0, reason: `Decisions: ${told(wrong)}.` }
  }
}

const refusals: readonly string[] = ['denied', 'suspended', 'blocked']

function fits(one: EvalDecision, { reason, ...fields }: DecisionPattern): boolean {
  const { reason: given = '' } = one
  if (reason instanceof RegExp ? given.search(reason) === -1 : !given.includes(reason ?? '')) return false
  return Object.entries(fields).every(([key, value]) => value === undefined || one[key as keyof EvalDecision] === value)
}

function expectedOf({ layer, decision, tool, reason }: DecisionPattern): string {
  const because = reason === undefined ? '' : `, ${reason}`
  return `${layer === undefined ? '' : `"${layer}" `}${decision ?? 'a decision'}${tool ? ` ${tool}` : ''}${because}`
}

function told(decisions: readonly EvalDecision[]): string {
  if (decisions.length === 0) return 'none'
  return decisions.map(({ layer, decision, tool }) => `"${layer}" ${decision}${tool ? ` ${tool}` : ''}`).join(', ')
}
