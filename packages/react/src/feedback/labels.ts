/** The texts of `Feedback`. Pass your own to translate them. */
export interface FeedbackLabels {
  group: string
  up: string
  down: string
  comment: string
  send: string
  /** Announced to screen readers when the feedback was stored. */
  stored: string
  removed: string
}

export const englishFeedbackLabels: FeedbackLabels = {
  group: 'Feedback on this answer',
  up: 'Good answer',
  down: 'Bad answer',
  comment: 'What was wrong? (optional)',
  send: 'Send comment',
  stored: 'Feedback saved',
  removed: 'Feedback removed',
}
