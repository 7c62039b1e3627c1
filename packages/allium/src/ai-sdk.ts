// Models by name, and middleware and providers of the AI SDK as parts of Allium
export {
  type AiSdkProvider,
  adaptAiSdk,
  createResolver,
  type ModelFactory,
  ollamaUrl,
  type ProviderEntry,
  type ResolverOptions,
} from '@allium/providers'
// An agent of Allium as an agent of the AI SDK
export { type AiSdkAgent, type ToAiSdkAgentOptions, toAiSdkAgent } from '@allium/providers/agent'
// Middleware of the AI SDK as layers
export {
  type AiSdkMiddleware,
  type FromAiSdkMiddlewareOptions,
  fromAiSdkMiddleware,
} from '@allium/providers/middleware'
