import type { RecordedDecision } from '../../recorded-turn.ts'
import type { ReplayDifference } from '../replayed-turn.ts'
import type { StepNames } from './steps.ts'

type Decisions = readonly RecordedDecision[]

/**
 * Compares decisions. Each call has its own list, so calls may end in another order. A layer that passed a call on has decided nothing.
 *
 * @param isComparable whether the replay reached the call of a recorded decision
 */
export function decisionDifferences(
  recorded: Decisions,
  replayed: Decisions,
  names: StepNames,
  isComparable: (decision: RecordedDecision) => boolean,
): ReplayDifference[] {
  const before = byStep(recorded, names)
  const now = byStep(replayed, names)
  const differences: ReplayDifference[] = []
  for (const step of new Set([...before.keys(), ...now.keys()])) {
    const gone = without(before.get(step) ?? [], now.get(step) ?? []).filter(isComparable)
    const added = without(now.get(step) ?? [], before.get(step) ?? [])
    for (let at = 0; at < Math.max(gone.length, added.length); at++)
      differences.push(difference(step, gone[at], added[at]))
  }
  return differences
}

/** Such as `guard:policy denied: not today`. */
function difference(step: string, gone?: RecordedDecision, added?: RecordedDecision): ReplayDifference {
  const layer = added?.layer ?? gone?.layer
  return {
    kind: 'decision',
    step,
    field: (added ?? gone)?.decision ?? 'decision',
    ...(layer !== undefined && { layer }),
    recorded: gone && textOfDecision(gone),
    replayed: added && textOfDecision(added),
  }
}

export function textOfDecision({ layer = 'core', decision, reason }: RecordedDecision): string {
  return reason === undefined ? `${layer} ${decision}` : `${layer} ${decision}: ${reason}`
}

function byStep(decisions: Decisions, names: StepNames): Map<string, RecordedDecision[]> {
  const steps = new Map<string, RecordedDecision[]>()
  for (const decision of decisions) {
    const step = names.decision(decision)
    steps.set(step, [...(steps.get(step) ?? []), decision])
  }
  return steps
}

/** Returns the decisions of the first list that the second does not have, each as often as it is missing. */
function without(list: Decisions, others: Decisions): RecordedDecision[] {
  const left = others.map(textOfDecision)
  return list.filter((decision) => {
    const at = left.indexOf(textOfDecision(decision))
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}
