export { type FullRequest, fullRequests } from './full-requests.ts'
export { parseRecording } from './parse-recording.ts'
export { type ReadRecordings, type ReadTurn, type RecordingsQuery, readRecordings } from './read-recordings.ts'
export { Reasons } from './reasons.ts'
