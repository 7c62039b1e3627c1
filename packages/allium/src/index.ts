// Around any layer
export * from '@allium/combinators'
// Core, with its Agent replaced by the one that has a resolver and ajv
export * from '@allium/core'
// The packs
export * as guard from '@allium/guard'
export * as memory from '@allium/memory'
export * as model from '@allium/model'
export * as observe from '@allium/observe'
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
export * as tools from '@allium/tools'
// Imported by the package's name, because tsup writes wrong types for a namespace of its files.
export * as hooks from 'allium/hooks'
export { Agent, type AgentOptions } from './agent.ts'
export { ajvValidate } from './validate.ts'
