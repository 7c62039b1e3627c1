export * from '@allium/memory'
