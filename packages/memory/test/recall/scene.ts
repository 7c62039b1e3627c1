import { Agent, type AgentOptions, type AnyMiddleware, type Usable } from '@allium/core'
import { memoryStore } from '@allium/store'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { persist } from '../../src/index.ts'
import { type RecallOptions, recall } from '../../src/recall/index.ts'

export const ada = { tenantId: 'acme', userId: 'ada' }

export const asks = (question: string): ScriptedStep => ({ toolCalls: [{ name: 'recall', args: { question } }] })

/** An agent whose sessions one store keeps, for several conversations with one script. */
export function scene(
  { embed, ...options }: RecallOptions = {},
  layers: readonly AnyMiddleware[] = [],
  more: Partial<AgentOptions> = {},
  clock = manualClock(Date.UTC(2026, 4, 4)),
  store = memoryStore({ clock }),
) {
  const agentOf = (steps: readonly ScriptedStep[]) => {
    const model = scriptedModel(steps)
    const all: Usable[] = [
      persist({ store }),
      embed ? recall({ store: store.passages, ...options, embed }) : recall({ store: store.passages, ...options }),
      ...layers,
    ]
    return { agent: new Agent({ name: 'helper', model, clock, ...more }).use(all), model }
  }
  /** Runs a conversation, and returns the last result and what the model got. */
  async function chat(id: string, inputs: readonly string[], steps: readonly ScriptedStep[], principal: object = ada) {
    const { agent, model } = agentOf(steps)
    await using session = agent.session({ id, principal })
    for (const input of inputs.slice(0, -1)) await session.run(input)
    const result = await session.run(inputs.at(-1) as string)
    return { result, requests: model.requests.map(({ messages }) => messages) }
  }
  return { clock, store, agentOf, chat }
}

/** What the tool found, as the model gets it. */
export function found(result: { toolCalls: readonly { result: { content: unknown } }[] }): string[] {
  const content = String(result.toolCalls[0]?.result.content)
  return content.startsWith('{') ? content.split('\n').map((line) => JSON.parse(line).text) : []
}
