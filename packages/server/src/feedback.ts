// A program with feedback has the server, too, which keeps these in one file with what both need.
import './approvals/pending-calls.ts'
import './run/used-tokens.ts'

export { type FeedbackOptions, feedback, type ServedFeedback } from './feedback/feedback.ts'
export type { CollectFeedback } from './options/options.ts'
export type { FeedbackView } from './sessions/feedback-view.ts'
