import { Agent, type AnyMiddleware } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { type SearchOptions, search } from '../../src/search.ts'

export const ada = { tenantId: 'acme', userId: 'ada' }

export const asks = (question: string): ScriptedStep => ({ toolCalls: [{ name: 'search', args: { question } }] })

/** An agent with the layer, and a session of one user. */
export function scene(options: SearchOptions, steps: readonly ScriptedStep[], outside: readonly AnyMiddleware[] = []) {
  const model = scriptedModel(steps)
  const agent = new Agent({ name: 'helper', model }).use([...outside, search(options)])
  return { agent, model, session: (principal: object = ada) => agent.session({ principal }) }
}

/** The lines that the model got, parsed. */
export function found(result: { toolCalls: readonly { result: { content: unknown } }[] }): Record<string, unknown>[] {
  const lines = String(result.toolCalls[0]?.result.content).split('\n')
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
}
