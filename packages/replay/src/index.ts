export { type Recorder, record } from './record.ts'
export type { RecordingSink, RecordOptions, RunToRecord } from './record-options.ts'
export type {
  RecordedAbort,
  RecordedClock,
  RecordedDecision,
  RecordedLayer,
  RecordedMessages,
  RecordedMoment,
  RecordedPosting,
  RecordedRequest,
  RecordedSession,
  RecordedSteer,
  RecordedStep,
  RecordedTask,
  RecordedTurn,
} from './recorded-turn.ts'
export type { RecordingCounts } from './recording-counts.ts'
