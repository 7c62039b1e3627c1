export * from '@allium/tools/search'
