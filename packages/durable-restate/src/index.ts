export {
  type DurableRestate,
  type DurableRestateOptions,
  durableRestate,
  type RunAccess,
  type RunStatus,
  type StartOptions,
} from './durable-restate.ts'
export type { RestateAgent } from './restate-agent.ts'
export { recorded } from './run-with-journal.ts'
export type { Task } from './task.ts'
export type { DurableResult } from './turn.ts'
