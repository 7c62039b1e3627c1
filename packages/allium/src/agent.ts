import { type CallTypes, Agent as CoreAgent, type AgentOptions as CoreOptions, type Tool } from '@allium/core'
import type { ReadUntrustedSchema } from '@allium/core/internal'
import { agentElsewhere, agentOptionKeys, checkOptions, safeLogger, setOrderRules } from '@allium/core/internal'
import { adaptAiSdk, createResolver } from '@allium/providers'
import { orderRules } from '@allium/shared/order'
import type { AgentStore } from '@allium/store'
import { storeLayers } from './store-layers.ts'
import { ajvValidate } from './validate.ts'

type Schema = Tool['schema']

setOrderRules(orderRules)

/** The options of core's agent, and a store. */
export interface AgentOptions<
  C extends Schema = undefined,
  P extends Schema = undefined,
  Calls extends readonly CallTypes[] = readonly CallTypes[],
> extends CoreOptions<C, P, Calls> {
  /**
   * Stores sessions, like `memory.persist({ store: store.sessions })`. Budgets, rate limits, caches and `guard.pii` use it too,
   * unless you give them another place. Close it yourself, after `dispose()`.
   *
   * @default none; everything stays in this process
   */
  store?: AgentStore | undefined
}

const known = { ...agentOptionKeys, store: true } as const
/** Imports the interpreter with the first schema of a client. */
const untrustedSchema: ReadUntrustedSchema = async (schema) => {
  const interpreter = await import('@allium/shared/json-schema')
  return interpreter.untrustedSchema(schema)
}
const elsewhere = {
  'memory checkpointer': 'Pass a store: { store: sqlite("allium.db") }.',
  'handoffs subAgents': 'A sub-agent is a tool: agent.use(tools.agent({ agent })).',
  'scorers evals': 'Scores come from a layer: agent.use(guard.judge({ model, rubric })).',
  ...agentElsewhere,
}

/**
 * The agent of `@allium/core` with the defaults of an application. It resolves model names such as `anthropic/claude-sonnet-4-6`,
 * takes models of the AI SDK, checks arguments against raw JSON Schemas (yours with ajv, those of clients in a bounded number of
 * steps), and gives all layers one store. The options `resolveModel`, `adaptModel`, `validate` and `untrustedSchema` replace
 * these defaults.
 *
 * @throws AlliumError `agent.options` for an unknown option or an invalid value
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
  /** The option `store`. A server reads sessions and events from it. */
  readonly store?: AgentStore | undefined

  constructor(agentOptions: AgentOptions<C, P, Calls>) {
    checkOptions(agentOptions ?? {}, known, 'new Agent()', 'agent.options', elsewhere)
    const { store, ...options } = agentOptions ?? {}
    super({
      ...options,
      resolveModel: options.resolveModel ?? createResolver(),
      adaptModel: options.adaptModel ?? adaptAiSdk,
      validate: options.validate ?? ajvValidate(options.logger && safeLogger(options.logger)),
      untrustedSchema: options.untrustedSchema ?? untrustedSchema,
    })
    this.store = store
    if (store !== undefined) this.use(storeLayers(store))
  }
}
