export { addScore, noCounts, type ScoreCounts } from './rollout/score-counts.ts'
export { type RolloutCounts, type RolloutOptions, type RolloutVerdict, rolloutVerdict } from './rollout/verdict.ts'
