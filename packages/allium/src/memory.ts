export * from '@allium/memory'
export * from '@allium/memory/recall'
export * from '@allium/memory/working'
