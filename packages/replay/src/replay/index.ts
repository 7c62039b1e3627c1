export { type ReplayOptions, replay } from './replay.ts'
export type { ReplayDifference, ReplayedTurn, ReplayLane, ReplayMode, ReplayReport } from './replayed-turn.ts'
export type { TurnToReplay } from './turn-to-replay.ts'
