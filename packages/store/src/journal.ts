export { LostCalls } from './lost-calls.ts'
export { type MemoryJournal, memoryJournal } from './memory-journal.ts'
export { isTakeoverStep, ReplayCheck } from './replay-check.ts'
export { type Seals, sealedJournal } from './sealed-journal.ts'
