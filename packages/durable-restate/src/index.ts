export {
  type DurableRestate,
  type DurableRestateOptions,
  durableRestate,
  type RunStanding,
  type StartOptions,
  type Whose,
} from './durable-restate.ts'
export { recorded } from './recorded.ts'
export type { Task } from './task.ts'
export type { DurableResult } from './turn.ts'
