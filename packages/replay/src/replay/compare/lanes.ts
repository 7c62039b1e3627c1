import type { RecordedDecision, RecordedStep } from '../../recorded-turn.ts'
import { callOfStep } from '../replayed-steps.ts'
import type { ReplayDifference, ReplayLane } from '../replayed-turn.ts'
import type { TurnReplay } from '../turn-replay.ts'
import { textOfDecision } from './decisions.ts'
import { textOf } from './short-text.ts'
import type { StepNames } from './steps.ts'
import type { TurnFacts } from './turn-facts.ts'

type Texts = Map<string, string>

/** Returns both turns step by step. A step differs if a difference names it. */
export function lanesOf(
  turn: TurnReplay,
  { recorded, replayed }: { readonly recorded: TurnFacts; readonly replayed: TurnFacts },
  { names, differences }: { readonly names: StepNames; readonly differences: readonly ReplayDifference[] },
): ReplayLane[] {
  const { steps, used, turnId } = turn
  const before = textsOf(recorded, steps.list, turn, names)
  const now = textsOf(
    replayed,
    steps.list.filter(({ id }) => used.has(id)),
    turn,
    names,
  )
  if (turn.divergence !== undefined) {
    const { turnId: of, call, why } = turn.divergence
    const step = names.step(of, call)
    now.set(step, [now.get(step), `diverged: ${why}`].filter(Boolean).join(' · '))
  }
  const order = [...new Set([...before.keys(), ...now.keys()])]
  const end = names.end(turnId)
  const ordered = [...order.filter((step) => step !== end), ...order.filter((step) => step === end)]
  return ordered.map((step) => ({
    step,
    recorded: before.get(step),
    replayed: now.get(step),
    differs: differences.some((difference) => difference.step === step),
  }))
}

/** The texts of one lane, by step, in the order in which the steps ended. A call that no step answers follows the model that made it. */
function textsOf({ decisions, result }: TurnFacts, steps: readonly RecordedStep[], turn: TurnReplay, names: StepNames) {
  const texts: Texts = new Map()
  const add = (step: string, text: string) => {
    const known = texts.get(step)
    texts.set(step, known === undefined ? text : `${known} · ${text}`)
  }
  const rest = [...decisions]
  const answered = new Set(steps.map((step) => nameOf(step, turn, names)))
  for (const step of steps) {
    const named = callOfStep(step, turn.turnId)
    if (named === undefined) continue
    const name = names.step(named.turnId, named.call)
    add(name, textOfStep(step))
    for (const decision of takeOf(rest, name, names)) add(name, textOfDecision(decision))
    for (const call of callsIn(step).map((id) => names.tool(named.turnId, id)))
      if (!answered.has(call)) for (const decision of takeOf(rest, call, names)) add(call, textOfDecision(decision))
  }
  for (const decision of rest) add(names.decision(decision), textOf(textOfDecision(decision)) as string)
  if (result !== undefined) {
    const { status, reason, answer } = result
    add(names.end(turn.turnId), [status, reason, textOf(answer ?? undefined)].filter(Boolean).join(': '))
  }
  return texts
}

function nameOf(step: RecordedStep, turn: TurnReplay, names: StepNames): string | undefined {
  const named = callOfStep(step, turn.turnId)
  return named && names.step(named.turnId, named.call)
}

/** The ids of the tool calls that a model's answer contains. */
function callsIn({ items }: RecordedStep): string[] {
  const started = ((items ?? []) as { type?: unknown; callId?: unknown }[]).filter(
    (item) => item?.type === 'tool-input-start',
  )
  return started.map(({ callId }) => String(callId))
}

function takeOf(decisions: RecordedDecision[], name: string, names: StepNames): RecordedDecision[] {
  const taken = decisions.filter((decision) => names.decision(decision) === name)
  for (const decision of taken) decisions.splice(decisions.indexOf(decision), 1)
  return taken
}

function textOfStep({ items, result, error }: RecordedStep): string {
  if (error !== undefined) return textOf(`failed: ${error.message}`) as string
  if (items === undefined && !isFinish(result)) return textOf(contentOf(result)) ?? ''
  const parts: string[] = []
  let text = ''
  for (const item of (items ?? []) as { type?: unknown; delta?: unknown; name?: unknown; callId?: unknown }[]) {
    if (item?.type === 'text-delta') text += String(item.delta)
    if (item?.type === 'tool-input-start') parts.push(`calls ${String(item.name)} (${String(item.callId)})`)
  }
  return textOf([...(text === '' ? [] : [JSON.stringify(text)]), ...parts].join(', ')) ?? ''
}

function isFinish(result: unknown): boolean {
  return (result as { type?: unknown } | null | undefined)?.type === 'finish'
}

function contentOf(result: unknown): unknown {
  const { status, content } = (result ?? {}) as { status?: unknown; content?: unknown }
  return content === undefined ? result : `${String(status)}: ${textOf(content)}`
}
