export { checkLimit, checkRolloutRun, checkRolloutTurn, checkScore } from './check-rollout.ts'
export { armSize, armsOf, type Increments, noRolloutCounts, type WindowTurn, windowCounts } from './counts.ts'
export { MemoryRollouts } from './memory-rollouts.ts'
