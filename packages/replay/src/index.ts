export { type Recorder, type RecordingSink, type RecordOptions, type RunToRecord, record } from './record.ts'
export type {
  RecordedDecision,
  RecordedMessages,
  RecordedRequest,
  RecordedStep,
  RecordedTask,
  RecordedTurn,
} from './recorded-turn.ts'
export type { RecordingCounts } from './recording-counts.ts'
