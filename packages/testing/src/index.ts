// Suites: the rules for every implementation of a port, and for every layer

export type { RecordedError, Scrub } from '@allium/shared/recording'
export type { ConformanceCase, TestFunctions } from './conformance/cases.ts'
export type { ErasureParts } from './conformance/erasure/erasure-bench.ts'
export {
  type ErasureConformanceOptions,
  erasureCases,
  erasureConformance,
  type MakeErasableStore,
} from './conformance/erasure/erasure-conformance.ts'
export {
  type EventLogConformanceOptions,
  eventLogCases,
  eventLogConformance,
  type MakeEventLog,
} from './conformance/event-log/event-log-conformance.ts'
export {
  type JournalConformanceOptions,
  type JournalParts,
  journalCases,
  journalConformance,
  type MakeJournal,
} from './conformance/journal/journal-conformance.ts'
export {
  type KeyValueConformanceOptions,
  keyValueCases,
  keyValueConformance,
  type MakeKeyValue,
} from './conformance/key-value/key-value-conformance.ts'
export {
  type LayerCaseName,
  type LayerConformanceOptions,
  layerCases,
  layerConformance,
} from './conformance/layer/layer-conformance.ts'
export {
  type LedgerConformanceOptions,
  ledgerCases,
  ledgerConformance,
  type MakeLedger,
} from './conformance/ledger/ledger-conformance.ts'
export type { RunStoreParts } from './conformance/runs/run-bench.ts'
export {
  type MakeRunStore,
  type RunStoreConformanceOptions,
  runStoreCases,
  runStoreConformance,
} from './conformance/runs/run-store-conformance.ts'
export type { ScheduleStoreParts } from './conformance/schedules/schedule-bench.ts'
export {
  type MakeScheduleStore,
  type ScheduleStoreConformanceOptions,
  scheduleStoreCases,
  scheduleStoreConformance,
} from './conformance/schedules/schedule-store-conformance.ts'
export type { Seals } from './conformance/sealed/failing-seals.ts'
export type { SealedParts } from './conformance/sealed/sealed-cases.ts'
export {
  type MakeSealedStore,
  type SealedConformanceOptions,
  sealedCases,
  sealedConformance,
} from './conformance/sealed/sealed-conformance.ts'
export {
  type MakeStore,
  type StoreConformanceOptions,
  storeCases,
  storeConformance,
} from './conformance/store/store-conformance.ts'
export type { Vault } from './conformance/vault/vault-cases.ts'
export {
  type MakeVault,
  type VaultConformanceOptions,
  vaultCases,
  vaultConformance,
} from './conformance/vault/vault-conformance.ts'
// Layers and time
export type { LayerRun } from './layer-run.ts'
export { type ManualClock, manualClock } from './manual-clock.ts'
// Outcomes; `matchers` are for expect.extend
export { type CalledTool, type CallSource, calledTools } from './matchers/called-tools.ts'
export { historyProblems } from './matchers/history-problems.ts'
export { leaks } from './matchers/leaks.ts'
export { type AlliumMatchers, matchers } from './matchers/matchers.ts'
export type { Outcome } from './matchers/outcome.ts'
export type { EventSource, HistorySource } from './matchers/received.ts'
export { type RunEnd, runEnd } from './matchers/run-end.ts'
export { type RequestSource, sentTexts } from './matchers/sent-texts.ts'
export { streamedText } from './matchers/streamed-text.ts'
export { traceLayer, unwindingProblem } from './matchers/unwinding.ts'
export { type CassetteMode, type CassetteOptions, cassette, type Tape } from './recording/cassette.ts'
export type { Cassette, CassetteEntry, CassetteRequest } from './recording/cassette-data.ts'
export { loadCassette, saveCassette } from './recording/cassette-file.ts'
export { type RecordingModel, type RecordModelOptions, recordModel } from './recording/record-model.ts'
export { type ReplayingModel, type ReplayModelOptions, replayModel } from './recording/replay-model.ts'
export { type RunLayerOptions, runLayer } from './run-layer.ts'
export { type RecordedRequest, type ScriptedModel, scriptedModel } from './scripted-model.ts'
export type { ScriptedAnswer, ScriptedReply, ScriptedStep, ScriptedToolCall } from './step.ts'
