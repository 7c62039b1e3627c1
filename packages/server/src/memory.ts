// A program with these routes has the server, too, which keeps this in one file with what both need.
import './approvals/pending-calls.ts'
import './run/used-tokens.ts'

export { type ControlledBlock, type MemoryOptions, memory } from './memory/memory.ts'
export type { ControlMemory } from './options/options.ts'
export type { MemoryBlockView, MemoryChangeView, MemoryPassage, MemoryView } from './sessions/memory-view.ts'
