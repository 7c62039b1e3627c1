export type { CaseSelection, FeedbackSource, StoredCases } from './case-selection.ts'
export { type CasesFromRecordings, casesFromRecordings } from './from-recordings.ts'
export { type CasesFromSessions, casesFromSessions } from './from-sessions.ts'
export { writeCases } from './write-cases.ts'
