export { checkRecordedRun, checkRecording, checkRecordingQuery, maxRecordingBytes } from './check-recording.ts'
