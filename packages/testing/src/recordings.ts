export type { RecordingStoreParts } from './conformance/recordings/recording-bench.ts'
export {
  type MakeRecordingStore,
  type RecordingStoreConformanceOptions,
  recordingStoreCases,
  recordingStoreConformance,
} from './conformance/recordings/recording-store-conformance.ts'
