export type { AiSdkModel } from './ai-sdk-model.ts'
export { type FromAiSdkOptions, fromAiSdk } from './from-ai-sdk.ts'
export type { AiSdkProvider } from './provider-package.ts'
export { createResolver, type ModelFactory, type ProviderEntry, type ResolverOptions } from './resolver.ts'
