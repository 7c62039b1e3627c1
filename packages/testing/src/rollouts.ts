export type { RolloutStoreParts } from './conformance/rollouts/rollout-bench.ts'
export {
  type MakeRolloutStore,
  type RolloutStoreConformanceOptions,
  rolloutStoreCases,
  rolloutStoreConformance,
} from './conformance/rollouts/rollout-store-conformance.ts'
