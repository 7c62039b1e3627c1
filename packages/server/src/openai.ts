// Loaded by `server()` with the option `openai`. Not for applications.
export { openaiRoutes } from './openai/routes.ts'
