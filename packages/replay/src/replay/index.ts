export { type ReplayOptions, replay, type TurnToReplay } from './replay.ts'
export type { ReplayDifference, ReplayedTurn, ReplayLane, ReplayMode, ReplayReport } from './replayed-turn.ts'
