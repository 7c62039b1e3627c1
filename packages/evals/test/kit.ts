import { Agent, type AgentOptions, type AnyMiddleware } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'

/** A model that gives the same answer at each call. */
export function alwaysModel(step: ScriptedStep) {
  return scriptedModel(Array.from({ length: 1000 }, () => step))
}

/** An agent that answers by the last message. */
export function answering(answer: (input: string) => ScriptedStep, options: Partial<AgentOptions> = {}) {
  const model = alwaysModel((request, index) => {
    const step = answer(String(request.messages.at(-1)?.content))
    return typeof step === 'function' ? step(request, index) : step
  })
  return new Agent({ model, ...options })
}

export function withLayers(agent: Agent, ...layers: AnyMiddleware[]) {
  return agent.use(layers)
}

export const casesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ input: `question ${index + 1}` }))
