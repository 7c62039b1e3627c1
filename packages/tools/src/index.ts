export { type AgentToolOptions, agentTool as agent } from './agent.ts'
export { type CacheOptions, cache, type ToolsCacheHit } from './cache.ts'
export { type EmulateOptions, emulate, type ToolsEmulated } from './emulate.ts'
export { type FunctionOptions, functionTool as function } from './function.ts'
// Also available as a subpath. Its Node modules and its library are loaded with the first request.
export { type HttpLookup, type HttpMethod, type HttpOptions, http } from './http.ts'
// Also available as a subpath. Its SDK is an optional peer dependency, which is loaded when an agent with servers begins.
export {
  type McpAuthProvider,
  type McpCall,
  type McpHeaders,
  type McpHttpServer,
  type McpLayerOptions,
  type McpListing,
  type McpOptions,
  type McpPrincipalServer,
  type McpReconnectOptions,
  type McpRevision,
  type McpServer,
  type McpStdioServer,
  mcp,
} from './mcp.ts'
export { type RetryOptions, retry, type ToolsRetry } from './retry.ts'
export { type TruncateOptions, truncate } from './truncate.ts'
