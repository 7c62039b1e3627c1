export type { WorkingMemoryChange } from './stored-block.ts'
export { type WorkingMemoryChanged, type WorkingOptions, working } from './working.ts'
export { type WorkingMemory, type WorkingMemoryOptions, workingMemory } from './working-memory.ts'
