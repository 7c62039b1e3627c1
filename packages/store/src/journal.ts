export { type MemoryJournal, memoryJournal } from './memory-journal.ts'
export { isCallStep, isTakeoverStep, ReplayCheck } from './replay-check.ts'
