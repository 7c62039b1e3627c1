import { agentOf } from '@allium/hooks'
import { Agent } from './agent.ts'

export * from '@allium/hooks'

/** Creates an agent from a class with `getMiddlewares()`. Like `Agent` of this package, it has a resolver and ajv. */
export const agent = agentOf(Agent)
