export { type AgentToolOptions, agentTool as agent } from './agent.ts'
export { type FunctionOptions, functionTool as function } from './function.ts'
export { type TruncateOptions, truncate } from './truncate.ts'
