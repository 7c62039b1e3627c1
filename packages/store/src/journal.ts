export { type MemoryJournal, memoryJournal } from './memory-journal.ts'
export { isTakeoverStep, ReplayCheck } from './replay-check.ts'
export { RunCheck } from './run-check.ts'
export { type Seals, sealedJournal } from './sealed-journal.ts'
