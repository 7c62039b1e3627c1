export type {
  ErrorContext,
  ErrorPhase,
  Hook,
  HookContexts,
  HookName,
  LoopContext,
  ModelCallContext,
  StreamChunk,
  StreamChunkContext,
  ToolExecutionContext,
  ToolResultContext,
} from './contexts.ts'
export {
  type AgentConfig,
  type AlliumConfig,
  defineConfig,
  type HookEntry,
  type HookOptions,
  type McpServer,
  type PackEntry,
} from './define-config.ts'
export { loadConfig } from './load.ts'
export { createLoader, type LoadConfig, type LoaderOptions, type LoadOptions } from './load-config.ts'
export type { Pack, Packs } from './packs.ts'
