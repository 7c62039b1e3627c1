export { type ExplainOptions, explainRecall, type RecallExplanation, type RecallReason } from './explain-recall.ts'
