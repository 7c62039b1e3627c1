export type { BlockEdit } from './edit-by-person.ts'
export type { WorkingMemoryChange } from './stored-block.ts'
export { type WorkingMemoryChanged, type WorkingOptions, working } from './working.ts'
export { type Person, type WorkingMemory, type WorkingMemoryOptions, workingMemory } from './working-memory.ts'
