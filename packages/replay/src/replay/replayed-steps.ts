import { nameOf } from '../answers/recorded-steps.ts'
import type { RecordedStep } from '../recorded-turn.ts'
import type { TurnReplay } from './turn-replay.ts'

/** Returns the recorded steps that the replay did not ask for, although it should have. */
export function unusedSteps(turn: TurnReplay): RecordedStep[] {
  const { list } = turn.steps
  const onces = list.filter(({ id }) => nameOf(id, turn.turnId).kind === 'once')
  return list.filter(({ id, layer }) => {
    const { kind, turnId } = nameOf(id, turn.turnId)
    if (turn.used.has(id) || kind === 'other' || isOpaque(turn, turnId)) return false
    if (onces.some((outer) => id.startsWith(`${outer.id}:`))) return false
    return kind !== 'once' || !turn.layers.isChangedOrGone(turnId, layer)
  })
}

/** Whether a turn is that of a sub-agent that the replay did not enter. */
export function isOpaque({ opaque }: TurnReplay, turnId: string): boolean {
  return [...opaque].some((prefix) => turnId.startsWith(`${prefix}:`) || turnId.startsWith(`${prefix}/`))
}

/** Returns the call of a model step or a tool step. @param run the id of the run */
export function callOfStep({ id }: RecordedStep, run: string): { turnId: string; call: string | number } | undefined {
  const { kind, turnId } = nameOf(id, run)
  if (kind !== 'model' && kind !== 'tool') return undefined
  const call = id.slice(turnId.length + kind.length + 2).replace(/:\d+$/, '')
  return { turnId, call: kind === 'model' ? Number(call) : call }
}
