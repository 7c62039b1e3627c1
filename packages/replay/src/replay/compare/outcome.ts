import { equalJson } from '@allium/core/internal'
import type { RecordedTurn } from '../../recorded-turn.ts'
import type { ReplayDifference } from '../replayed-turn.ts'
import { textOf } from './short-text.ts'
import type { StepNames } from './steps.ts'
import type { TurnFacts } from './turn-facts.ts'

type Result = RecordedTurn['result']
type Call = NonNullable<Result['calls']>[number]

const fields = ['status', 'reason', 'code', 'answer', 'finishReason', 'usage'] as const

/** Compares how two turns ended, and the tool calls of both. Results of tools count as the models received them. */
export function outcomeDifferences(
  recorded: TurnFacts,
  replayed: TurnFacts,
  { turnId, names }: { readonly turnId: string; readonly names: StepNames },
): ReplayDifference[] {
  const contents = contentDifferences(recorded, replayed, names)
  const [before, now] = [recorded.result, replayed.result]
  if (before === undefined || now === undefined) return contents
  const ends = fields
    .filter((field) => !equalJson(before[field] ?? null, now[field] ?? null))
    .map((field) => difference(names.end(turnId), field, before[field], now[field]))
  return [...callDifferences(before, now, (call) => names.tool(turnId, call.callId)), ...contents, ...ends]
}

function callDifferences(
  { calls: before = [] }: Result,
  { calls: now = [] }: Result,
  nameOf: (call: Call) => string,
): ReplayDifference[] {
  const differences: ReplayDifference[] = []
  for (const call of before) {
    const other = now.find(({ callId }) => callId === call.callId)
    if (other === undefined) differences.push(difference(nameOf(call), 'call', textOfCall(call), undefined))
    else
      for (const field of ['name', 'args', 'status'] as const)
        if (!equalJson(call[field], other[field]))
          differences.push(difference(nameOf(call), field, call[field], other[field]))
  }
  for (const call of now)
    if (!before.some(({ callId }) => callId === call.callId))
      differences.push(difference(nameOf(call), 'call', undefined, textOfCall(call)))
  return differences
}

function contentDifferences({ contents }: TurnFacts, { contents: now }: TurnFacts, names: StepNames) {
  return [...contents].flatMap(([key, content]): ReplayDifference[] => {
    const other = now.get(key)
    if (other === undefined || equalJson(content, other)) return []
    const [turnId = '', callId = ''] = key.split('\n')
    return [difference(names.tool(turnId, callId), 'content', content, other)]
  })
}

function textOfCall({ name, args, status }: Call): string {
  return `${name}(${JSON.stringify(args)}) → ${status}`
}

function difference(step: string, field: string, recorded: unknown, replayed: unknown): ReplayDifference {
  return { kind: 'outcome', step, field, recorded: textOf(recorded), replayed: textOf(replayed) }
}
