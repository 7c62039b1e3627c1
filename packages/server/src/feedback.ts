export { type FeedbackOptions, feedback, type ServedFeedback } from './feedback/feedback.ts'
export type { CollectFeedback } from './options/options.ts'
export type { FeedbackView } from './sessions/feedback-view.ts'
