export { type AuditRow, type AuditTable, type StoredAudit, type StoredChain, storedAudit } from './audit.ts'
export { type BlobOwner, type BlobTable, type BlobWrite, blobWriteLife } from './blobs/blob-table.ts'
export { Blobs, readAgain } from './blobs/blobs.ts'
export { conflictOf, fenced, heldElsewhere, idTaken } from './conflicts.ts'
export type { Encrypt, SealedPlace } from './encrypt.ts'
export { type Erased, erasedSince, subjectsOf, tombstoneLife } from './erasures.ts'
export type {
  AppendOutcome,
  AskedSignal,
  EventBatch,
  EventTable,
  RunHead,
  StoredBatch,
} from './events/event-table.ts'
export { hour, polledEventLog } from './events/polled-event-log.ts'
export { checkRun, partsOf, runName, sessionParts } from './events/run-name.ts'
export { checkKey, checkName, checkOwner, checkTogether } from './key.ts'
export { cursorOf, pageOf } from './page.ts'
export { longestPostponement, month, type OutboxOptions, openedRecords } from './records.ts'
export {
  busy,
  checkRunAt,
  keyReused,
  listedRun,
  notWaiting,
  openedClaims,
  openedExpired,
  runOf,
  runPlace,
  sealedStep,
  sealedTask,
  stepsOf,
  type TakenRun,
} from './runs.ts'
export { Sealer } from './sealer.ts'
export { bytesOf, callOf, historyOf, openedPart, type SqlRow, summaryOf, turnRow } from './sql-row.ts'
export { agentOf, type RecordRow, rowsOf, type TurnRow, type TurnRows, turnOf, type WaitingRow } from './turn-row.ts'
export { checkTimes, type UsageAsked, type UsageDay, usageCounts, usageDay } from './usage-days.ts'
export { openedValue, sealedValue } from './value.ts'
export { type Vault, vaultPlace, vaultRow } from './vault.ts'
