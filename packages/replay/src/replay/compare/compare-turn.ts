import { nameOf } from '../../answers/recorded-steps.ts'
import type { RecordedDecision } from '../../recorded-turn.ts'
import type { TurnToReplay } from '../replay.ts'
import type { ReplayDifference, ReplayedTurn, ReplayMode } from '../replayed-turn.ts'
import type { TurnReplay } from '../turn-replay.ts'
import { decisionDifferences } from './decisions.ts'
import { lanesOf } from './lanes.ts'
import { outcomeDifferences } from './outcome.ts'
import { requestDifferences } from './requests.ts'
import { StepNames } from './steps.ts'
import { recordedFacts, replayedFacts, type TurnFacts } from './turn-facts.ts'

/** Compares a recorded turn with its replay. */
export function compareTurn(given: TurnToReplay, turn: TurnReplay, mode: ReplayMode): ReplayedTurn {
  const { key, turnId, recorded: source } = given
  const names = new StepNames(turnId)
  const recorded = only(recordedFacts(given), (id) => !turn.isOpaque(id))
  const replayed = replayedFacts(turn)
  const requests = requestDifferences(recorded, replayed, names)
  const explained = [
    ...decisionDifferences(recorded.decisions, replayed.decisions, names, reached(turn)),
    ...outcomeDifferences(recorded, replayed, { turnId, names }),
  ]
  // A step that a denial left out is not named twice.
  const isNew = ({ step, field }: ReplayDifference) =>
    field !== 'unused' || !explained.some((difference) => difference.step === step)
  const differences = [
    ...divergences(turn, names).filter(isNew),
    ...explained,
    ...(mode === 'exact' ? requests : []),
  ]
  const lanes = lanesOf(turn, { recorded, replayed }, { names, differences })
  const at = lanes.findIndex(({ differs }) => differs)
  return {
    ...{ key, turnId, startedAt: source.startedAt, verdict: differences.length === 0 ? 'same' : 'different' },
    ...{ differences, requests, lanes, notes: [...turn.notes] },
    ...(at >= 0 && { divergedAt: at }),
  }
}

function only(facts: TurnFacts, isEntered: (turnId: string) => boolean): TurnFacts {
  return {
    ...facts,
    requests: facts.requests.filter(({ turnId }) => isEntered(turnId)),
    decisions: facts.decisions.filter(({ turnId }) => isEntered(turnId)),
  }
}

/** After a divergence, only recorded decisions about the same call and about the turn can be missing. */
function reached({ divergence }: TurnReplay): (decision: RecordedDecision) => boolean {
  if (divergence === undefined) return () => true
  return ({ turnId, call }) => turnId === divergence.turnId && (call === undefined || call === divergence.call)
}

/** Returns where the replay needed an answer that is not recorded, or which recorded steps it left out. */
function divergences(turn: TurnReplay, names: StepNames): ReplayDifference[] {
  const { divergence } = turn
  if (divergence !== undefined) {
    const step = names.step(divergence.turnId, divergence.call)
    return [{ kind: 'diverged', step, field: 'answer', recorded: undefined, replayed: divergence.why }]
  }
  return turn.unused().map((step): ReplayDifference => {
    const { turnId } = nameOf(step.id, turn.turnId)
    const name = names.step(turnId, turn.callOf(step)?.call)
    return { kind: 'diverged', step: name, field: 'unused', recorded: step.id, replayed: undefined }
  })
}
