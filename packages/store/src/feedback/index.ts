export {
  checkFeedback,
  checkFeedbackKey,
  checkFeedbackQuery,
  checkRuns,
  checkSummaryOptions,
  isComment,
  maxCommentBytes,
  maxTagLength,
  maxTags,
} from './check-feedback.ts'
export { feedbackTags, feedbackTagsOf } from './feedback-tags.ts'
export { MemoryFeedback } from './memory-feedback.ts'
