import { type AgentOptions, Agent as CoreAgent, type Tool } from '@allium/core'
import { adaptAiSdk, createResolver } from '@allium/providers'
import { ajvValidate } from './validate.ts'

type Schema = Tool['schema']

/**
 * The agent of `@allium/core`, with what an application wants built in: models by their name, such as
 * `anthropic/claude-sonnet-4-6`, models of the AI SDK as they are, and tools with raw JSON Schemas checked. `resolveModel`,
 * `adaptModel` and `validate` replace them.
 *
 * @example
 * const agent = new Agent({ model: 'anthropic/claude-sonnet-4-6', instructions: 'Be brief.' })
 *   .use(model.retry())
 *   .use(guard.budget({ limit: 1.0 }))
 * const { text } = await agent.run('Hello')
 */
export class Agent<S = {}, C extends Schema = undefined, P extends Schema = undefined> extends CoreAgent<S, C, P> {
  constructor(options: AgentOptions<C, P>) {
    super({
      ...options,
      resolveModel: options.resolveModel ?? createResolver(),
      adaptModel: options.adaptModel ?? adaptAiSdk,
      validate: options.validate ?? ajvValidate(),
    })
  }
}
