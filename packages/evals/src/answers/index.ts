export type { AnswerOptions, Answers, TrialAnswers } from '../run/answers.ts'
export type { AnswersMode } from './answers-mode.ts'
export { type OpenAnswersOptions, type OpenedAnswers, openAnswers } from './open-answers.ts'
export type { AnswersSummary } from './recorded-answers.ts'
