export type { StoredStatus } from '@allium/core/internal'
export {
  type AgentStore,
  type MakeRateCounter,
  type RateCounter,
  sharedStore,
  type Vault,
  type VaultValues,
} from './agent-store.ts'
export { checkAmount, mostAmount, postedAmount } from './amount.ts'
export { filesIn, isBlob, StoredFile } from './blob.ts'
export { callsInside } from './calls-inside.ts'
export {
  checkpointMissing,
  eventsFenced,
  fenced,
  heldByOtherAgent,
  runNotOpened,
  turnConflict,
  turnIdTaken,
} from './conflicts.ts'
export { continuedTurn } from './continued-turn.ts'
export type * from './event-log.ts'
export type * from './feedback-store.ts'
export type { KeyValue } from './key-value.ts'
export { type LateParts, lateParts } from './late-parts.ts'
export type { Ledger, LedgerBalance, Reservation } from './ledger.ts'
export { MemoryErasures } from './memory-erasures.ts'
export { type MemoryEventLogOptions, memoryEventLog } from './memory-event-log/memory-event-log.ts'
export { type MemoryLedgerOptions, memoryLedger } from './memory-ledger/memory-ledger.ts'
export { type MemoryStoreOptions, memoryStore } from './memory-store/memory-store.ts'
export { decodeOutcome, encodeOutcome, type StepOutcome } from './outcome.ts'
export type * from './passage-store.ts'
export { eventText, isPlainJson } from './plain-json.ts'
export type * from './recording-store.ts'
export type * from './rollout-store.ts'
export type * from './run-operations.ts'
export type * from './run-store.ts'
export type * from './schedule-store.ts'
export type * from './search-source.ts'
export type * from './session-store.ts'
export { recordStep, recordStepValue, replayStep, type StepValue } from './step-record.ts'
export { checkOwner, checkStoreName, mostNameBytes } from './store-name.ts'
export { checkTurn } from './stored-turn.ts'
