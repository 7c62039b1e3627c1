import { type CallTypes, Agent as CoreAgent, type AgentOptions as CoreOptions, type Tool } from '@allium/core'
import { untrustedSchema } from '@allium/json-schema'
import { adaptAiSdk, createResolver } from '@allium/providers'
import type { AgentStore } from '@allium/store'
import { storeLayers } from './store-layers.ts'
import { ajvValidate } from './validate.ts'

type Schema = Tool['schema']

/** The options of core's agent, and a store. */
export interface AgentOptions<
  C extends Schema = undefined,
  P extends Schema = undefined,
  Calls extends readonly CallTypes[] = readonly CallTypes[],
> extends CoreOptions<C, P, Calls> {
  /**
   * Keeps sessions, as `memory.persist({ store: store.sessions })` does; and budgets, rates, caches and `guard.pii` keep theirs
   * there, where they are given no place of their own. Who made it closes it, after `dispose()`.
   *
   * @default none: all is kept in this process
   */
  store?: AgentStore | undefined
}

/**
 * The agent of `@allium/core`, with what an application wants built in: models by their name, such as
 * `anthropic/claude-sonnet-4-6`, models of the AI SDK as they are, arguments checked against raw JSON Schemas (yours with ajv,
 * those of clients in a bounded number of steps), and one store for all layers that keep something. `resolveModel`,
 * `adaptModel`, `validate` and `untrustedSchema` replace the first ones.
 *
 * @throws AlliumError `agent.options` for what is no option, or no value of one
 * @example
 * const agent = new Agent({ model: 'anthropic/claude-sonnet-4-6', instructions: 'Be brief.', store: sqlite('allium.db') })
 *   .use(model.retry())
 *   .use(guard.budget({ limit: 1.0 }))
 * const { text } = await agent.run('Hello')
 */
export class Agent<
  S = {},
  C extends Schema = undefined,
  P extends Schema = undefined,
  Calls extends readonly CallTypes[] = readonly CallTypes[],
> extends CoreAgent<S, C, P, Calls> {
  /** As it was given: a server takes sessions and events from it. */
  readonly store?: AgentStore | undefined

  constructor(agentOptions: AgentOptions<C, P, Calls>) {
    const { store, ...options } = agentOptions ?? {}
    super({
      ...options,
      resolveModel: options.resolveModel ?? createResolver(),
      adaptModel: options.adaptModel ?? adaptAiSdk,
      validate: options.validate ?? ajvValidate(),
      untrustedSchema: options.untrustedSchema ?? untrustedSchema,
    })
    this.store = store
    if (store !== undefined) this.use(storeLayers(store))
  }
}
