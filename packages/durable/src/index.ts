export { type Durable, durable, type RunInfo, type StartedRun } from './durable.ts'
export { type Entry, entryOf, type RunError, type RunEvent } from './log/entry.ts'
export type { DurableAgent, DurableOptions, DurableStore, RunOwner, StartOptions } from './options.ts'
export { runJournal } from './run-journal.ts'
