import { Agent, type AgentOptions, fromJson, type Usable } from '@allium/core'
import type { Recording } from '@allium/store'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { type RecordedTurn, type RecordingSink, type RecordOptions, record } from '../src/index.ts'

/** Steps of a turn that calls the tool "work" once. */
export const oneCall: ScriptedStep[] = [{ toolCalls: [{ name: 'work', callId: 'c1', args: { n: 1 } }] }, 'done']

export const work = {
  name: 'work',
  description: 'Works',
  jsonSchema: { type: 'object' },
  execute: ({ n }: { n: number }) => `result ${n}`,
}

/** A store in memory. */
export function memory(sealed = true) {
  const kept: Recording[] = []
  const store: RecordingSink = {
    sealed,
    async add(recording) {
      kept.push(recording)
    },
  }
  const turns = () => kept.map(({ content }) => fromJson(content) as RecordedTurn)
  return { store, kept, turns }
}

/** An agent whose turns are recorded. */
export function recorded(
  steps: readonly ScriptedStep[],
  layers: readonly Usable[] = [],
  { options = {}, ...agentOptions }: Partial<AgentOptions> & { options?: RecordOptions } = {},
) {
  const sink = memory()
  const recorder = record({ store: sink.store, ...options })
  const logger = { warn() {}, error() {} }
  const agent = new Agent({ model: scriptedModel(steps), tools: [work], logger, ...agentOptions })
  agent.use(recorder).use(layers)
  return { agent, recorder, ...sink }
}
