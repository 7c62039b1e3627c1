export {
  type AuditChain,
  type AuditRow,
  type AuditStore,
  type AuditTable,
  auditStore,
  type ChainRecord,
} from './audit.ts'
export { type BlobOwner, type BlobTable, type BlobWrite, blobWriteTtl } from './blobs/blob-table.ts'
export { Blobs, filesOfMessages, retryRead } from './blobs/blobs.ts'
export type { Encryption, EncryptionContext } from './encryption.ts'
export { type ErasureScope, erasedDuringRun, erasureSubjects, tombstoneTtl } from './erasures.ts'
export type {
  AppendOutcome,
  EventBatch,
  EventTable,
  RunHead,
  StoredBatch,
  StoredSignal,
} from './events/event-table.ts'
export { hour, polledEventLog } from './events/polled-event-log.ts'
export { checkRun, runKeyParts, runName, sessionKeyParts } from './events/run-key.ts'
export { checkKey, checkName, checkOwner } from './key.ts'
export { parseCursor, toPage } from './page.ts'
export { maxPostponement, month, type OutboxOptions, openRecords } from './records.ts'
export { type ClaimedRow, openClaims } from './runs/claims.ts'
export {
  checkQueue,
  checkRunAt,
  idempotencyKeyReused,
  keptShapes,
  notPending,
  priorityStep,
  sessionBusy,
} from './runs/new-run.ts'
export {
  maxFoundRuns,
  maxRunCounts,
  operatedColumns,
  operatedRunFromRow,
  retentionByStatus,
  runCountFromRow,
  runDescription,
  runFilterParams,
  stepInLog,
} from './runs/operations.ts'
export { type OverdueScans, openOverdueCalls } from './runs/overdue-calls.ts'
export { readRun, runRowKey, runSummary, sealTask } from './runs/run-row.ts'
export { sealStep, stepsOf } from './runs/steps.ts'
export {
  changedColumns,
  openDue,
  openSchedule,
  scheduleColumns,
  scheduleFromRow,
  scheduleOfOtherAgent,
  schedulePage,
  scheduleRowKey,
  tooManySchedules,
} from './schedules.ts'
export { Sealer } from './sealer.ts'
export {
  headFromRow,
  historyFromRows,
  openPart,
  pageBytes,
  parseTurnRow,
  pendingCallFromRow,
  type SqlRow,
  sessionKeyFromRow,
  sessionSummaryFromRow,
  toBytes,
  turnsFromRows,
} from './sql-row.ts'
export {
  checkpointToRows,
  type PendingCallRow,
  type RecordRow,
  type TurnRow,
  type TurnRows,
  turnFromRow,
  turnToRows,
} from './turn-row.ts'
export { checkTimeRange, type UsageDay, type UsageQuery, usageColumns, usageDayFromRow } from './usage-days.ts'
export { openValue, sealValue } from './value.ts'
export { parseVaultKey, type Vault, vaultContext } from './vault.ts'
