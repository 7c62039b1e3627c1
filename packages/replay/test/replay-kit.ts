import { Agent, type AgentOptions, fromJson, type Usable } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import type { RecordedTurn } from '../src/index.ts'
import { type ReplayOptions, type ReplayReport, replay, type TurnToReplay } from '../src/replay/index.ts'
import { type memory, recorded, work } from './kit.ts'

export type Layers = () => readonly Usable[]

/** Records turns of new sessions. */
export async function recordedTurns(
  steps: readonly ScriptedStep[],
  layers: Layers = () => [],
  options: Partial<AgentOptions> = {},
): Promise<TurnToReplay[]> {
  const { agent, kept } = recorded(steps, layers(), options)
  await agent.run('hi').catch(() => {})
  await agent.dispose()
  return toTurns(kept)
}

export function toTurns(kept: ReturnType<typeof memory>['kept']): TurnToReplay[] {
  return kept.map(({ key, turnId, content }) => {
    const turn = fromJson(content) as RecordedTurn
    return { key, turnId, recorded: turn, before: turn.before.snapshot ?? { history: [], state: {} } }
  })
}

/** Replays turns through a new agent whose model fails, because no model may be called. */
export async function replayed(
  turns: readonly TurnToReplay[],
  layers: Layers = () => [],
  { agent: given, ...options }: Partial<Omit<ReplayOptions, 'agent'>> & { agent?: Partial<AgentOptions> } = {},
): Promise<ReplayReport> {
  const logger = { warn() {}, error() {} }
  const agent = new Agent({ model: scriptedModel([]), tools: [work], logger, ...given }).use([...layers()])
  try {
    return await replay({ agent, recordings: turns, ...options })
  } finally {
    await agent.dispose()
  }
}
