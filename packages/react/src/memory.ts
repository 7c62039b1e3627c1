export { MemoryStore, type MemoryStoreState } from './memory/memory-store.ts'
export { type RememberedMemory, useMemory } from './memory/use-memory.ts'
