export * from '@allium/memory'
export * from '@allium/memory/recall'
export { type WorkingMemoryChanged, type WorkingOptions, working } from '@allium/memory/working'
