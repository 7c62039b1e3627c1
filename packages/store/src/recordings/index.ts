export {
  type CheckedRecording,
  checkRecordedRun,
  checkRecording,
  checkRecordingQuery,
  maxRecordingBytes,
} from './check-recording.ts'
