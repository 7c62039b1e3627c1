export * from '@allium/memory'
export * from '@allium/memory/recall'
