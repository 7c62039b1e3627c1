// Loaded by `server()` with the option `mcp`. Not for applications.
export { mcpRoutes } from './mcp/routes.ts'
