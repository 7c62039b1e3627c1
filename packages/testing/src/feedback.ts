export type { FeedbackStoreParts } from './conformance/feedback/feedback-bench.ts'
export {
  type FeedbackStoreConformanceOptions,
  feedbackStoreCases,
  feedbackStoreConformance,
  type MakeFeedbackStore,
} from './conformance/feedback/feedback-store-conformance.ts'
