export { createMemoryClient, type MemoryBlockChange, type MemoryClient } from './client/memory.ts'
export type { TransportOptions } from './client/transport.ts'
export type { MemoryBlockView, MemoryChangeView, MemoryPassage, MemoryView } from './sessions/memory-view.ts'
