export { type AgentToolOptions, agentTool as agent } from './agent.ts'
export { type FunctionOptions, functionTool as function } from './function.ts'
// Also in a subpath of its own. Its SDK is an optional peer: it is loaded when an agent with servers begins, and not before.
export {
  type McpCall,
  type McpHeaders,
  type McpHttpServer,
  type McpLayerOptions,
  type McpOptions,
  type McpReconnectOptions,
  type McpServer,
  type McpStdioServer,
  mcp,
} from './mcp.ts'
export { type TruncateOptions, truncate } from './truncate.ts'
