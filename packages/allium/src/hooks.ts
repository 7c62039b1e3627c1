import { agentOf } from '@allium/hooks'
import { Agent } from './agent.ts'

export * from '@allium/hooks'

/** Makes an agent of a class with `getMiddlewares()`: one with a resolver and ajv, as `Agent` here is. */
export const agent = agentOf(Agent)
