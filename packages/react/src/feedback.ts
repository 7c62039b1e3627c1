export { Feedback, type FeedbackProps } from './feedback/feedback.tsx'
export { englishFeedbackLabels, type FeedbackLabels } from './feedback/labels.ts'
export { type SessionFeedback, useFeedback } from './feedback/use-feedback.ts'
