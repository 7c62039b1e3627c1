export { type MemoryJournal, memoryJournal } from './memory-journal.ts'
export { isTakeoverStep, ReplayCheck } from './replay-check.ts'
