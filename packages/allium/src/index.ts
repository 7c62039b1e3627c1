// Around any layer
export * from '@allium/combinators'
// Core, with its Agent replaced by the one that has a resolver and ajv
export * from '@allium/core'
// Models
export {
  type AiSdkMiddleware,
  type AiSdkModel,
  type AiSdkProvider,
  adaptAiSdk,
  createResolver,
  type FromAiSdkMiddlewareOptions,
  type FromAiSdkOptions,
  fromAiSdk,
  fromAiSdkMiddleware,
  type ModelFactory,
  ollamaUrl,
  type ProviderEntry,
  type ResolverOptions,
} from '@allium/providers'
export * from '@allium/store'
export { Agent, type AgentOptions } from './agent.ts'
export { ajvValidate } from './validate.ts'
