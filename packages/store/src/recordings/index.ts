export { checkRecordedRun, checkRecording, checkRecordingQuery, maxRecordingBytes } from './check-recording.ts'
export { MemoryRecordings } from './memory-recordings.ts'
